#include <dataflux/store/impl/object_columns.ipp>
