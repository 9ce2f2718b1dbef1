module github.com/penstock-go/penstock/fuzz/linear

go 1.26.0

replace github.com/penstock-go/penstock => ../../

require (
	github.com/anishathalye/porcupine v1.3.1
	github.com/penstock-go/penstock v0.0.0-00010101000000-000000000000
	github.com/stretchr/testify v1.12.1
)

require (
	github.com/puzpuzpuz/xsync/v3 v3.5.1 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
)
