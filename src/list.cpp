#include <dataflux/list/impl/name_range.ipp>
#include <dataflux/list/impl/name_tree.ipp>
#include <dataflux/list/impl/range_outlook.ipp>
#include <dataflux/list/impl/range_splitter.ipp>
