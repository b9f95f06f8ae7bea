#include <dataflux/checkpoint/impl/file_upload.ipp>
#include <dataflux/checkpoint/impl/file_upload_resume.ipp>
#include <dataflux/checkpoint/impl/source_file.ipp>
#include <dataflux/checkpoint/impl/upload_file.ipp>
#include <dataflux/checkpoint/impl/upload_journal.ipp>
#include <dataflux/checkpoint/impl/writer.ipp>
