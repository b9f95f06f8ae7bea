#include "http1_corpus.hpp"

namespace http1_corpus {

using namespace std::string_view_literals;

#define OK "HTTP/1.1 200 OK\r\n"
#define CHUNKED OK "Transfer-Encoding: chunked\r\n\r\n"

static constexpr sample all[] = {
    // Accepted.
    {"length", OK "Content-Length: 3\r\n\r\nabc", 200, "abc"},
    {"length of zero", OK "Content-Length: 0\r\n\r\n", 200, ""},
    {"length with leading zeros", OK "Content-Length: 0003\r\n\r\nabc", 200, "abc"},
    {"until close", OK "\r\nabc", 200, "abc"},
    {"until close, empty", OK "\r\n", 200, ""},
    {"the service's reply to a GET of media",
     OK "X-GUploader-UploadID: AHmUCY3zGb1pO8\r\nExpires: Fri, 01 Jan 2027 00:00:00 GMT\r\n"
        "Cache-Control: private, max-age=0\r\nLast-Modified: Thu, 01 Jan 2026 00:00:00 GMT\r\n"
        "ETag: \"abcdef\"\r\nx-goog-generation: 1767225600000000\r\nx-goog-metageneration: 1\r\n"
        "x-goog-stored-content-encoding: identity\r\nx-goog-stored-content-length: 5\r\n"
        "Content-Type: application/octet-stream\r\nx-goog-hash: crc32c=AAAAAA==\r\n"
        "x-goog-hash: md5=1B2M2Y8AsgTpgAmY7PhCfg==\r\nx-goog-storage-class: STANDARD\r\n"
        "Accept-Ranges: bytes\r\nContent-Length: 5\r\nServer: UploadServer\r\n\r\nhello",
     200, "hello"},
    {"no blank after the colon", OK "Content-Length:3\r\n\r\nabc", 200, "abc"},
    {"blanks around a value", OK "Content-Length: \t 3 \t \r\n\r\nabc", 200, "abc"},
    {"empty value", OK "a:\r\nb: \t\r\nContent-Length: 0\r\n\r\n", 200, ""},
    {"tab and high bytes in a value", OK "a: x\ty\xc3\xa4z\r\nContent-Length: 0\r\n\r\n", 200, ""},
    {"every token character in a name", OK "!#$%&'*+-.^_`|~09azAZ: 1\r\nContent-Length: 0\r\n\r\n",
     200, ""},
    {"names in odd case", OK "cONTENT-lENGTH: 3\r\n\r\nabc", 200, "abc"},
    {"equal lengths", OK "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc", 200, "abc"},
    {"empty reason", "HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n", 200, ""},
    {"high bytes in the reason", "HTTP/1.1 200 \xc3\xa4\r\nContent-Length: 0\r\n\r\n", 200, ""},
    {"unknown status", "HTTP/1.1 799 What\r\nContent-Length: 0\r\n\r\n", 799, ""},
    {"error with a body", "HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusy", 503, "busy"},
    {"resume incomplete", "HTTP/1.1 308 Resume Incomplete\r\nContent-Length: 0\r\n\r\n", 308, ""},
    {"no content", "HTTP/1.1 204 No Content\r\n\r\n", 204, ""},
    {"not modified with a length", "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", 304,
     ""},
    {"HEAD with a length", OK "Content-Length: 900\r\n\r\n", 200, "", true},
    {"HEAD chunked", CHUNKED, 200, "", true},
    {"HEAD with neither", OK "\r\n", 200, "", true},
    {"HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nabc", 200, "abc"},
    {"HTTP/1.0 until close", "HTTP/1.0 200 OK\r\n\r\nabc", 200, "abc"},
    {"close", OK "Connection: close\r\nContent-Length: 3\r\n\r\nabc", 200, "abc"},
    {"connection options", OK "Connection: a, Close ,b\r\nContent-Length: 0\r\n\r\n", 200, ""},
    {"empty connection options", OK "Connection: ,, a ,\r\nContent-Length: 0\r\n\r\n", 200, ""},
    {"continue first", "HTTP/1.1 100 Continue\r\n\r\n" OK "Content-Length: 1\r\n\r\nx", 200, "x"},
    {"early hints, twice",
     "HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: b\r\n\r\n" OK
     "Content-Length: 1\r\n\r\nx",
     200, "x"},
    {"one chunk", CHUNKED "3\r\nabc\r\n0\r\n\r\n", 200, "abc"},
    {"chunks", CHUNKED "1\r\na\r\n0A\r\n0123456789\r\n000b\r\n0123456789x\r\n0\r\n\r\n", 200,
     "a01234567890123456789x"},
    {"no chunks", CHUNKED "0\r\n\r\n", 200, ""},
    {"many zeros in a chunk size", CHUNKED "00000000000000000003\r\nabc\r\n000\r\n\r\n", 200,
     "abc"},
    {"chunk extensions", CHUNKED "3;a=b;c=\"d e\"\r\nabc\r\n0;x\r\n\r\n", 200, "abc"},
    {"trailers", CHUNKED "3\r\nabc\r\n0\r\nx-goog-hash: crc32c=AA==\r\nb:\r\n\r\n", 200, "abc"},
    {"chunked, odd case", OK "transfer-encoding: Chunked\r\n\r\n1\r\na\r\n0\r\n\r\n", 200, "a"},
    {"CR and LF are payload", CHUNKED "4\r\n\r\n\r\n\r\n0\r\n\r\n", 200, "\r\n\r\n"},

    // Refused: status line.
    {"nothing", "", 0, ""},
    {"not HTTP", "SSH-2.0-OpenSSH_9.2\r\n", 0, ""},
    {"lower-case HTTP", "http/1.1 200 OK\r\n\r\n", 0, ""},
    {"HTTP/2", "HTTP/2 200 OK\r\n\r\n", 0, ""},
    {"HTTP/2.0", "HTTP/2.0 200 OK\r\n\r\n", 0, ""},
    {"HTTP/1.2", "HTTP/1.2 200 OK\r\nContent-Length: 0\r\n\r\n", 0, ""},
    {"HTTP/0.9", "HTTP/0.9 200 OK\r\n\r\n", 0, ""},
    {"two digits of status", "HTTP/1.1 20 OK\r\n\r\n", 0, ""},
    {"four digits of status", "HTTP/1.1 2000 OK\r\n\r\n", 0, ""},
    {"status with a letter", "HTTP/1.1 2x0 OK\r\n\r\n", 0, ""},
    {"status below 100", "HTTP/1.1 099 OK\r\nContent-Length: 0\r\n\r\n", 0, ""},
    {"no blank after the status", "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", 0, ""},
    {"two blanks before the status", "HTTP/1.1  200 OK\r\n\r\n", 0, ""},
    {"NUL in the reason", "HTTP/1.1 200 O\0K\r\n\r\n"sv, 0, ""},
    {"empty line first", "\r\n" OK "Content-Length: 0\r\n\r\n", 0, ""},
    {"switching protocols", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", 0, ""},
    // Refused: fields.
    {"folded line", OK "a: b\r\n c\r\nContent-Length: 0\r\n\r\n", 0, ""},
    {"folded by a tab", OK "a: b\r\n\tc\r\nContent-Length: 0\r\n\r\n", 0, ""},
    {"no colon", OK "Content-Length 0\r\n\r\n", 0, ""},
    {"no name", OK ": 0\r\nContent-Length: 0\r\n\r\n", 0, ""},
    {"blank before the colon", OK "Content-Length : 0\r\n\r\n", 0, ""},
    {"blank in a name", OK "Content Length: 0\r\n\r\n", 0, ""},
    {"high byte in a name", OK "\xc3\xa4: 0\r\n\r\n", 0, ""},
    {"bare CR", OK "a: b\rc\r\nContent-Length: 0\r\n\r\n", 0, ""},
    {"bare LF", OK "a: b\nContent-Length: 0\r\n\r\n", 0, ""},
    {"lines ended by LF", "HTTP/1.1 200 OK\nContent-Length: 0\n\n", 0, ""},
    {"CR CR LF", OK "a: b\r\r\nContent-Length: 0\r\n\r\n", 0, ""},
    {"NUL in a value", OK "a: b\0c\r\nContent-Length: 0\r\n\r\n"sv, 0, ""},
    {"NUL in a name", OK "a\0b: c\r\nContent-Length: 0\r\n\r\n"sv, 0, ""},
    {"DEL in a value", OK "a: b\x7f\r\nContent-Length: 0\r\n\r\n", 0, ""},
    {"connection option that is no token", OK "Connection: clo;se\r\nContent-Length: 0\r\n\r\n", 0,
     ""},
    // Refused: framing.
    {"different lengths", OK "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", 0, ""},
    {"list of lengths", OK "Content-Length: 3, 3\r\n\r\nabc", 0, ""},
    {"negative length", OK "Content-Length: -1\r\n\r\n", 0, ""},
    {"signed length", OK "Content-Length: +1\r\n\r\na", 0, ""},
    {"hexadecimal length", OK "Content-Length: 0x1\r\n\r\na", 0, ""},
    {"empty length", OK "Content-Length: \r\n\r\n", 0, ""},
    {"huge length", OK "Content-Length: 18446744073709551616\r\n\r\n", 0, ""},
    {"length beyond int64", OK "Content-Length: 9223372036854775808\r\n\r\n", 0, "", true},
    {"length, then chunked",
     OK "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", 0, ""},
    {"chunked, then length",
     OK "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n3\r\nabc\r\n0\r\n\r\n", 0, ""},
    {"chunked twice",
     OK "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 0, ""},
    {"other coding", OK "Transfer-Encoding: gzip\r\n\r\nabc", 0, ""},
    {"identity coding", OK "Transfer-Encoding: identity\r\n\r\nabc", 0, ""},
    {"coding before chunked", OK "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 0, ""},
    {"chunked in HTTP/1.0", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 0,
     ""},
    // Refused: chunks.
    {"no chunk size", CHUNKED "\r\nabc\r\n0\r\n\r\n", 0, ""},
    {"chunk size not hexadecimal", CHUNKED "g\r\nabc\r\n0\r\n\r\n", 0, ""},
    {"chunk size with 0x", CHUNKED "0x3\r\nabc\r\n0\r\n\r\n", 0, ""},
    {"negative chunk size", CHUNKED "-3\r\nabc\r\n0\r\n\r\n", 0, ""},
    {"chunk size with a blank first", CHUNKED " 3\r\nabc\r\n0\r\n\r\n", 0, ""},
    {"chunk size with LF only", CHUNKED "3\nabc\r\n0\r\n\r\n", 0, ""},
    {"chunk size beyond 64 bits", CHUNKED "10000000000000000\r\nabc\r\n0\r\n\r\n", 0, ""},
    {"chunk size that wraps to 3", CHUNKED "10000000000000003\r\nabc\r\n0\r\n\r\n", 0, ""},
    {"chunk longer than its size", CHUNKED "3\r\nabcd\r\n0\r\n\r\n", 0, ""},
    {"chunk without CR", CHUNKED "3\r\nabc\n0\r\n\r\n", 0, ""},
    {"control character in an extension", CHUNKED "3;a\x01\r\nabc\r\n0\r\n\r\n", 0, ""},
    {"trailer without a colon", CHUNKED "0\r\nabc\r\n\r\n", 0, ""},
    {"folded trailer", CHUNKED "0\r\na: b\r\n c\r\n\r\n", 0, ""},
    {"NUL in a trailer", CHUNKED "0\r\na: \0\r\n\r\n"sv, 0, ""},
    {"bare CR at the end", CHUNKED "0\r\n\rx", 0, ""},
    // Refused: cut short.
    {"cut in the status line", "HTTP/1.1 20", 0, ""},
    {"cut in a field", OK "Content-Le", 0, ""},
    {"cut before the last LF", OK "Content-Length: 0\r\n\r", 0, ""},
    {"cut after an interim head", "HTTP/1.1 100 Continue\r\n\r\n", 0, ""},
    {"cut in the body", OK "Content-Length: 3\r\n\r\nab", 0, ""},
    {"cut in a chunk", CHUNKED "3\r\nab", 0, ""},
    {"cut after a chunk", CHUNKED "3\r\nabc\r\n", 0, ""},
    {"cut in a chunk size", CHUNKED "3", 0, ""},
    {"cut in the trailers", CHUNKED "0\r\na: b\r\n", 0, ""},
    {"cut before the end of chunks", CHUNKED "0\r\n", 0, ""},
};

#undef OK
#undef CHUNKED

std::span<const sample> samples() { return all; }

}  // namespace http1_corpus
