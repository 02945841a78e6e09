// WebSocket (RFC 6455) on an upgraded connection: the headers of the handshake and a frame codec.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "net/http.hpp"

namespace plim::net {

// The Sec-WebSocket-Accept value for a Sec-WebSocket-Key.
std::string websocket_accept(std::string_view key);

// For servers: the headers of the 101 response; bad_request if this is not a WebSocket handshake.
// `protocol` is the subprotocol chosen from those offered; may be empty.
Result<Headers> websocket_answer(const Request& request, std::string_view protocol = "");

// For clients: the headers of the request.
Headers websocket_request(std::string_view key, std::string_view protocols = "");

enum class WebSocketOpcode : std::uint8_t {
  continuation = 0,
  text = 1,
  binary = 2,
  close = 8,
  ping = 9,
  pong = 10,
};

struct WebSocketMessage {
  WebSocketOpcode opcode = WebSocketOpcode::binary;  // never continuation
  std::string payload = {};
};

// One unfragmented frame. Clients must mask with fresh random bits, servers must not.
std::string format_websocket_frame(WebSocketOpcode opcode, std::string_view payload,
                                   std::optional<std::uint32_t> mask = {});

// Decodes received bytes into messages: unmasks, joins fragments, returns control frames between
// them. After an error the connection must be closed (1002; 1009 for Code::too_large).
class WebSocketDecoder {
 public:
  enum class Side { server, client };  // the side that reads: a server requires masks

  explicit WebSocketDecoder(Side side, std::size_t max_message = 1 << 20)
      : side_(side), max_message_(max_message) {}

  void feed(std::string_view bytes) { received_ += bytes; }

  // nullopt if more bytes are needed.
  Result<std::optional<WebSocketMessage>> next();

 private:
  struct Frame {
    bool final = false;
    WebSocketOpcode opcode = WebSocketOpcode::continuation;
    std::string payload = {};
  };

  Result<std::optional<Frame>> next_frame();

  Side side_;
  std::size_t max_message_;
  std::string received_;
  std::optional<WebSocketMessage> partial_;  // fragments so far
};

}  // namespace plim::net
