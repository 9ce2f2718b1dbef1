module github.com/penstock-go/penstock/store/dynamodb

go 1.26.0

replace (
	github.com/penstock-go/penstock => ../../
	github.com/penstock-go/penstock/store/storetest/lineartest => ../storetest/lineartest
)

require (
	github.com/aws/aws-sdk-go-v2 v1.48.0
	github.com/aws/aws-sdk-go-v2/service/dynamodb v1.74.0
	github.com/aws/smithy-go v1.28.9
	github.com/penstock-go/penstock v0.0.0-00010101000000-000000000000
	github.com/penstock-go/penstock/store/storetest/lineartest v0.0.0-00010101000000-000000000000
	github.com/stretchr/testify v1.12.1
	github.com/truora/minidyn v0.8.2
)

require (
	github.com/anishathalye/porcupine v1.3.1 // indirect
	github.com/aws/aws-sdk-go-v2/internal/configsources v1.5.12 // indirect
	github.com/aws/aws-sdk-go-v2/internal/endpoints/v2 v2.8.12 // indirect
	github.com/aws/aws-sdk-go-v2/service/internal/accept-encoding v1.13.25 // indirect
	github.com/aws/aws-sdk-go-v2/service/internal/endpoint-discovery v1.13.12 // indirect
	github.com/puzpuzpuz/xsync/v3 v3.5.1 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
)
