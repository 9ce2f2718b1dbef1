module github.com/penstock-go/penstock/store/redis

go 1.26.0

replace (
	github.com/penstock-go/penstock => ../../
	github.com/penstock-go/penstock/store/storetest/lineartest => ../storetest/lineartest
)

require (
	github.com/penstock-go/penstock v0.0.0-00010101000000-000000000000
	github.com/penstock-go/penstock/store/storetest/lineartest v0.0.0-00010101000000-000000000000
	github.com/redis/go-redis/v9 v9.23.0
	github.com/redis/rueidis v1.0.79
	github.com/stretchr/testify v1.12.1
)

require (
	github.com/anishathalye/porcupine v1.3.1 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/puzpuzpuz/xsync/v3 v3.5.1 // indirect
	go.uber.org/atomic v1.12.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/sys v0.48.0 // indirect
)
