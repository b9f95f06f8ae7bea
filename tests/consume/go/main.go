// Lists a bucket by the C ABI alone, as a Go binding would: no C helper beside it.
package main

// #cgo pkg-config: dataflux-c
// #include <stdlib.h>
// #include <dataflux.h>
import "C"

import (
	"fmt"
	"os"
	"unsafe"
)

func fail(err *C.dataflux_error) {
	fmt.Println(C.GoString(C.dataflux_error_text(err)))
	C.dataflux_error_free(err)
	os.Exit(1)
}

func main() {
	var err *C.dataflux_error
	var client *C.dataflux_client
	var op *C.dataflux_operation
	var listing *C.dataflux_listing
	var options C.dataflux_list_options
	C.dataflux_list_options_init(&options, C.size_t(unsafe.Sizeof(options)))
	options.bucket = C.CString(os.Args[1])
	if C.dataflux_client_create(nil, &client, &err) != C.DATAFLUX_OK ||
		C.dataflux_list(client, &options, nil, 0, &op, &err) != C.DATAFLUX_OK ||
		C.dataflux_operation_wait(op, -1, &err) != C.DATAFLUX_OK ||
		C.dataflux_operation_take_listing(op, &listing, &err) != C.DATAFLUX_OK {
		fail(err)
	}
	size := C.dataflux_listing_size(listing)
	C.dataflux_listing_free(listing)
	C.dataflux_operation_free(op)
	C.dataflux_client_free(client)
	C.free(unsafe.Pointer(options.bucket))
	fmt.Printf("consumed dataflux %s: %d objects\n", C.GoString(C.dataflux_version()), uint64(size))
}
