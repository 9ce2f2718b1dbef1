module github.com/penstock-go/penstock

go 1.26.0
