#include <dataflux/store/impl/object_columns.ipp>
#include <dataflux/store/impl/validate.ipp>
