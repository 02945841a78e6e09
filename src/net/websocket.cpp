#include "net/websocket.hpp"

#include <array>

#include <fmt/format.h>
#include <openssl/sha.h>

#include "base/base64.hpp"

namespace plim::net {
namespace {

constexpr std::string_view kMagic = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";  // RFC 6455, 1.3
constexpr std::size_t kMaxControlPayload = 125;

std::uint8_t byte_at(std::string_view bytes, std::size_t at) {
  return static_cast<std::uint8_t>(bytes[at]);
}

std::uint64_t big_endian(std::string_view bytes) {
  std::uint64_t out = 0;
  for (char c : bytes) out = out << 8 | static_cast<std::uint8_t>(c);
  return out;
}

void append_big_endian(std::string& out, std::uint64_t value, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
    out += static_cast<char>(value >> shift & 255);
}

// Masking and unmasking are the same.
void apply_mask(std::string& payload, std::size_t from, std::string_view mask) {
  for (std::size_t i = from; i < payload.size(); ++i)
    payload[i] = static_cast<char>(payload[i] ^ mask[(i - from) % 4]);
}

bool is_control(WebSocketOpcode opcode) {
  return static_cast<std::uint8_t>(opcode) >= 8;
}

bool is_known(std::uint8_t opcode) {
  return opcode <= 2 || (opcode >= 8 && opcode <= 10);
}

Error protocol_error(std::string_view what) {
  return fail(Code::bad_request, fmt::format("websocket: {}", what));
}

}  // namespace

std::string websocket_accept(std::string_view key) {
  std::string text(key);
  text += kMagic;
  std::array<unsigned char, SHA_DIGEST_LENGTH> digest{};
  SHA1(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  return base64_encode({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

Result<Headers> websocket_answer(const Request& request, std::string_view protocol) {
  const Headers& headers = request.headers;
  std::string_view key = headers.get("Sec-WebSocket-Key");
  auto decoded = base64_decode(key);
  if (request.method != "GET" || !headers.has_token("Connection", "upgrade") ||
      !headers.has_token("Upgrade", "websocket"))
    return protocol_error("expected a GET with Upgrade: websocket");
  if (headers.get("Sec-WebSocket-Version") != "13") return protocol_error("expected version 13");
  if (!decoded || decoded->size() != 16) return protocol_error("expected a key of 16 bytes");
  Headers out{{"Upgrade", "websocket"},
              {"Connection", "Upgrade"},
              {"Sec-WebSocket-Accept", websocket_accept(key)}};
  if (!protocol.empty()) out.add("Sec-WebSocket-Protocol", std::string(protocol));
  return out;
}

Headers websocket_request(std::string_view key, std::string_view protocols) {
  Headers out{{"Upgrade", "websocket"},
              {"Connection", "Upgrade"},
              {"Sec-WebSocket-Version", "13"},
              {"Sec-WebSocket-Key", std::string(key)}};
  if (!protocols.empty()) out.add("Sec-WebSocket-Protocol", std::string(protocols));
  return out;
}

std::string format_websocket_frame(WebSocketOpcode opcode, std::string_view payload,
                                   std::optional<std::uint32_t> mask) {
  std::string out(1, static_cast<char>(0x80 | static_cast<std::uint8_t>(opcode)));
  std::uint8_t mask_bit = mask ? 0x80 : 0;
  if (payload.size() <= kMaxControlPayload) {
    out += static_cast<char>(mask_bit | payload.size());
  } else if (payload.size() <= 0xffff) {
    out += static_cast<char>(mask_bit | 126);
    append_big_endian(out, payload.size(), 2);
  } else {
    out += static_cast<char>(mask_bit | 127);
    append_big_endian(out, payload.size(), 8);
  }
  if (!mask) return out.append(payload);
  std::string mask_bytes;
  append_big_endian(mask_bytes, *mask, 4);
  out += mask_bytes;
  std::size_t head = out.size();
  out.append(payload);
  apply_mask(out, head, mask_bytes);
  return out;
}

Result<std::optional<WebSocketDecoder::Frame>> WebSocketDecoder::next_frame() {
  std::string_view in = received_;
  if (in.size() < 2) return std::optional<Frame>();
  std::uint8_t first = byte_at(in, 0), second = byte_at(in, 1);
  if ((first & 0x70) != 0) return protocol_error("reserved bits are set");
  if (!is_known(first & 15)) return protocol_error("unknown opcode");
  bool masked = (second & 0x80) != 0;
  if (masked != (side_ == Side::server)) return protocol_error("masked the wrong way");
  std::size_t extra = (second & 127) == 127 ? 8 : (second & 127) == 126 ? 2 : 0;
  std::size_t head = 2 + extra + (masked ? 4 : 0);
  if (in.size() < head) return std::optional<Frame>();
  std::uint64_t size = extra ? big_endian(in.substr(2, extra)) : second & 127u;
  Frame frame;
  frame.final = (first & 0x80) != 0;
  frame.opcode = static_cast<WebSocketOpcode>(first & 15);
  if (is_control(frame.opcode) && (size > kMaxControlPayload || !frame.final))
    return protocol_error("control frame too long or fragmented");
  std::size_t held = partial_ ? partial_->payload.size() : 0;
  if (size > max_message_ - std::min(held, max_message_))
    return fail(Code::too_large, "websocket: message is too large");
  if (in.size() - head < size) return std::optional<Frame>();
  frame.payload = in.substr(head, size);
  if (masked) {
    std::string mask(in.substr(head - 4, 4));
    apply_mask(frame.payload, 0, mask);
  }
  received_.erase(0, head + size);
  return std::optional(std::move(frame));
}

Result<std::optional<WebSocketMessage>> WebSocketDecoder::next() {
  for (;;) {
    PLIM_TRY(std::optional<Frame> frame, next_frame());
    if (!frame) return std::optional<WebSocketMessage>();
    if (is_control(frame->opcode))
      return std::optional(WebSocketMessage{frame->opcode, std::move(frame->payload)});
    bool continues = frame->opcode == WebSocketOpcode::continuation;
    if (continues != partial_.has_value()) return protocol_error("fragments out of order");
    if (continues)
      partial_->payload += frame->payload;
    else
      partial_ = WebSocketMessage{frame->opcode, std::move(frame->payload)};
    if (frame->final) return std::exchange(partial_, std::nullopt);
  }
}

}  // namespace plim::net
