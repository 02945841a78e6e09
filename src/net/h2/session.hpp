// One HTTP/2 connection, without a socket: bytes in, bytes out. For .cpp files of net only.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

struct nghttp2_session;

namespace plim::net::h2 {

// The error codes of the protocol that we send or check.
enum class ErrorCode : std::uint32_t {
  none = 0x0,
  refused_stream = 0x7,  // no handler has seen the request: it may be sent again
  cancel = 0x8,
  http_1_1_required = 0xd,
};

inline constexpr std::size_t kFieldOverhead = 32;  // overhead of each field, by RFC 9113

using Field = std::pair<std::string_view, std::string_view>;

struct Settings {
  std::uint32_t stream_window = 256u << 10;
  std::uint32_t connection_window = 1u << 20;
  // Off: the reader returns the window with consume_*() when it has taken the bytes.
  bool windows_by_themselves = true;
  std::uint32_t max_header_bytes = 16 << 10;  // announced to the peer
  std::uint32_t max_streams = 100;            // concurrent streams of a server
  // How many streams a client may open and reset at once, and then per second, before the
  // connection is closed.
  std::uint64_t resets_at_once = 1000;
  std::uint64_t resets_per_second = 33;
  bool blanks_around_values = false;  // accepts fields that a strict parser would drop
};

// Wraps an nghttp2 session, which must not be called from its own callbacks: those are the virtual
// functions on_*() and read_body(), and they may only submit. They note everything else, and
// deliver() does it; receive() and send_into() call deliver() before they return. The library
// limits floods of resets, CONTINUATION, pings and settings. Belongs to one loop.
class Session {
 public:
  enum class Role { client, server };

  virtual ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // False: the peer broke the protocol; send what is left, then close.
  bool receive(std::string_view bytes);
  // Appends pending output until `out` has `enough` bytes or there is no more. False: broken.
  bool send_into(std::string& out, std::size_t enough);
  // True if nothing is expected or left to send: close the connection.
  bool finished() const;
  // Accepts no new streams; running ones continue.
  void go_away();

  // The library's message about the peer's last mistake; empty if there was none.
  const std::string& complaint() const { return complaint_; }

 protected:
  Session(Role role, const Settings& settings);

  enum class Frame { headers, data };
  // trailers: they are submitted and end the stream. broken: the stream is reset.
  enum class BodyEnd { no, yes, trailers, broken };

  struct BodyPart {
    std::size_t size = 0;  // 0 without an end: wait for resume()
    BodyEnd end = BodyEnd::no;
  };

  virtual void on_output() = 0;  // there may be bytes to send
  virtual void deliver() = 0;

  virtual void on_request_begins(std::int32_t) {}  // server

  // False resets the stream.
  virtual bool on_field(std::int32_t id, std::string_view name, std::string_view value) = 0;
  virtual void on_data(std::int32_t id, std::string_view bytes) = 0;
  virtual void on_frame(Frame frame, std::int32_t id, bool ends_stream) = 0;
  virtual void on_closed(std::int32_t id, std::uint32_t code) = 0;
  virtual BodyPart read_body(std::int32_t id, std::span<char> into) = 0;

  enum class Body { none, follows };  // follows: read_body() returns it
  // The ID of the stream; negative if all IDs are used.
  std::int32_t submit_request(std::span<const Field> fields, Body body);
  void submit_response(std::int32_t id, std::span<const Field> fields, Body body);
  void submit_informational(std::int32_t id, std::span<const Field> fields);
  void submit_trailer(std::int32_t id, std::span<const Field> fields);
  void reset(std::int32_t id, ErrorCode code);
  void resume(std::int32_t id);
  void consume_stream(std::int32_t id, std::size_t size);
  void consume_connection(std::size_t size);

  bool is_server() const { return role_ == Role::server; }

  bool going_away_ = false;
  bool heard_ = false;  // the peer has sent something

 private:
  struct Callbacks;

  struct Free {
    void operator()(nghttp2_session* session) const;
  };

  void submit_settings(const Settings& settings);

  Role role_;
  std::unique_ptr<nghttp2_session, Free> session_;
  std::string complaint_;
};

}  // namespace plim::net::h2
