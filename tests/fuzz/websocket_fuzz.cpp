// Frames in any portions, for either side: never a crash, no message above the limit, and how they
// are cut must not change what comes of them. What was understood is understood again when it is
// written anew.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "net/websocket.hpp"

namespace {

using namespace plim::net;
using Side = WebSocketDecoder::Side;

constexpr std::size_t kLimit = 300;

struct Outcome {
  std::vector<std::string> messages;  // opcode and payload
  plim::Code error = plim::Code::unknown;
  bool operator==(const Outcome&) const = default;
};

Outcome decode(std::string_view bytes, std::size_t portion, Side side) {
  WebSocketDecoder decoder(side, kLimit);
  Outcome out;
  while (!bytes.empty()) {
    decoder.feed(bytes.substr(0, portion));
    bytes.remove_prefix(std::min(portion, bytes.size()));
    for (;;) {
      auto message = decoder.next();
      if (!message) {
        out.error = message.error().code;
        return out;
      }
      if (!*message) break;
      if ((*message)->payload.size() > kLimit) std::abort();
      out.messages.push_back(static_cast<char>((*message)->opcode) + (*message)->payload);
    }
  }
  return out;
}

std::string encode(const std::vector<std::string>& messages, Side reader) {
  std::string out;
  for (const std::string& message : messages)
    out +=
        format_websocket_frame(static_cast<WebSocketOpcode>(message[0]), message.substr(1),
                               reader == Side::server ? std::optional(0x12345678u) : std::nullopt);
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.empty()) return 0;
  const Side side = data[0] & 1 ? Side::server : Side::client;
  const std::size_t portion = 1 + static_cast<std::size_t>(data[0] >> 1) % 16;
  bytes.remove_prefix(1);
  const Outcome whole = decode(bytes, bytes.size() + 1, side);
  if (whole != decode(bytes, portion, side)) std::abort();
  const Outcome again = decode(encode(whole.messages, side), portion, side);
  if (again.messages != whole.messages || again.error != plim::Code::unknown) std::abort();
  return 0;
}
