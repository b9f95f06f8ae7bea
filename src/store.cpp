#include <dataflux/store/impl/memory_store.ipp>
#include <dataflux/store/impl/memory_store_call.ipp>
#include <dataflux/store/impl/memory_store_link.ipp>
#include <dataflux/store/impl/memory_store_list.ipp>
#include <dataflux/store/impl/memory_store_service.ipp>
#include <dataflux/store/impl/object_columns.ipp>
#include <dataflux/store/impl/synthetic_bytes.ipp>
#include <dataflux/store/impl/validate.ipp>
