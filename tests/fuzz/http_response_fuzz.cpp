// Answers as a client reads them, gzip included.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "net/gzip.hpp"
#include "net/message_parser.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plim::net;
  constexpr std::size_t kMaxBody = 64 << 10;
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.empty()) return 0;
  auto parser = ResponseParser::make(4096, (data[0] & 1) != 0);
  std::size_t portion = 1 + (data[0] >> 1);
  bytes.remove_prefix(1);
  InputBuffer in;
  Gunzip gunzip(kMaxBody);
  std::string plain;
  bool zipped = true;
  while (!bytes.empty() && !parser->done()) {
    std::string_view piece = bytes.substr(0, portion);
    bytes.remove_prefix(piece.size());
    piece.copy(in.prepare(piece.size()).data(), piece.size());
    in.commit(piece.size());
    for (std::size_t before = in.size() + 1; in.size() < before && !parser->done();) {
      before = in.size();
      if (!parser->feed(in)) return 0;
      std::string body = parser->take_body();
      if (zipped) zipped = gunzip.feed(body, plain).has_value();
    }
  }
  if (plain.size() > kMaxBody) std::abort();
  (void)parser->feed_end();
  if (parser->head_done()) (void)parser->keep_alive();
  return 0;
}
