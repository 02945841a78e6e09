// Requests in any portions: never a crash, and how they are cut must not change what is parsed.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "net/message_parser.hpp"

namespace {

using plim::net::InputBuffer;
using plim::net::RequestParser;

struct Outcome {
  bool failed = false;
  bool done = false;
  std::string method, path, query, headers, body;
  bool operator==(const Outcome&) const = default;
};

Outcome parse(std::string_view bytes, std::size_t portion) {
  auto parser = RequestParser::make(4096);
  parser->limit_body(1000);
  InputBuffer in;
  Outcome out;
  while (!bytes.empty() && !parser->done() && !out.failed) {
    std::string_view piece = bytes.substr(0, portion);
    bytes.remove_prefix(piece.size());
    auto room = in.prepare(piece.size());
    piece.copy(room.data(), piece.size());
    in.commit(piece.size());
    for (std::size_t before = in.size() + 1; in.size() < before && !parser->done();) {
      before = in.size();
      if (!parser->feed(in)) {
        out.failed = true;
        break;
      }
    }
  }
  if (out.failed) return out;
  out.done = parser->done();
  out.method = parser->head().method;
  out.path = parser->head().path;
  out.query = parser->head().query;
  for (const auto& [name, value] : parser->head().headers) out.headers += name + "=" + value + ";";
  out.body = parser->take_body();
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.empty()) return 0;
  std::size_t portion = 1 + static_cast<std::size_t>(data[0]) % 16;
  bytes.remove_prefix(1);
  Outcome whole = parse(bytes, bytes.size() + 1), cut = parse(bytes, portion);
  // A request whose end has not come may be refused now or later: Beast looks for the end of the
  // head first. One that has come is taken, or refused, however it came.
  if (whole.done != cut.done) std::abort();
  if (whole.done && whole != cut) std::abort();
  if (whole.body.size() > 1000 || cut.body.size() > 1000) std::abort();
  return 0;
}
