#include <dataflux/http/impl/failure.ipp>
#include <dataflux/http/impl/http1.ipp>
#include <dataflux/http/impl/message.ipp>
#include <dataflux/http/impl/url.ipp>
