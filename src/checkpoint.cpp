#include <dataflux/checkpoint/impl/writer.ipp>
