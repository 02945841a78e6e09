// Beast's HTTP/1.1 parser, fed from an InputBuffer; only the .cpp file includes Beast. For .cpp
// files of this folder and its fuzz targets only.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "net/http.hpp"
#include "net/input_buffer.hpp"

namespace plim::net {

inline constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

// Parses one message; create a new parser for the next. feed() stops after the head, so that the
// caller can decide about the body, and at the end of the message: further bytes stay in the
// buffer.
class MessageParser {
 public:
  virtual ~MessageParser() = default;

  // Code::too_large: head or body exceeds its limit; Code::bad_request: not HTTP.
  virtual Result<void> feed(InputBuffer& in) = 0;
  // The peer has closed: completes a message that ends this way, otherwise fails.
  virtual Result<void> feed_end() = 0;

  virtual bool head_done() const = 0;
  virtual bool done() const = 0;
  virtual bool keep_alive() const = 0;
  virtual bool chunked() const = 0;
  virtual bool is_http10() const = 0;
  virtual std::optional<std::uint64_t> content_length() const = 0;

  virtual void limit_body(std::size_t bytes) = 0;
  // Body bytes parsed since the last call; chunk framing removed.
  virtual std::string take_body() = 0;
  virtual std::size_t body_size() const = 0;  // waiting for take_body()
};

class Gunzip;

// take_body(), decompressed if there is a `gunzip`. Empty if more input is needed, and at the end,
// where compressed data must be complete.
Result<std::string> take_plain_body(MessageParser& parser, Gunzip* gunzip);

class RequestParser : public MessageParser {
 public:
  static std::unique_ptr<RequestParser> make(std::size_t max_header);
  virtual Request& head() = 0;  // without body
};

class ResponseParser : public MessageParser {
 public:
  // `bodiless`: the response has no body, whatever its headers say (HEAD, CONNECT).
  static std::unique_ptr<ResponseParser> make(std::size_t max_header, bool bodiless);
  virtual Response& head() = 0;
};

}  // namespace plim::net
