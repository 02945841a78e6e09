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

// The error codes of the protocol that we say or understand ourselves.
enum class ErrorCode : std::uint32_t {
  none = 0x0,
  refused_stream = 0x7,  // no handler has seen the request: it may be sent again
  cancel = 0x8,
  http_1_1_required = 0xd,
};

inline constexpr std::size_t kFieldOverhead =
    32;  // bytes a field counts beyond its own, by RFC 9113

using Field = std::pair<std::string_view, std::string_view>;

struct Settings {
  std::uint32_t stream_window = 256u << 10;
  std::uint32_t connection_window = 1u << 20;
  // Off: whoever takes the bytes says when their room is free again, by consume_*().
  bool windows_by_themselves = true;
  std::uint32_t max_header_bytes = 16 << 10;  // told to the peer
  std::uint32_t max_streams = 100;            // a server's, at a time
  // Streams a client may open and give up at once, and then per second, before the connection is
  // ended.
  std::uint64_t resets_at_once = 1000;
  std::uint64_t resets_per_second = 33;
  bool blanks_around_values = false;  // takes fields a strict reader would drop
};

// Wraps an nghttp2 session, which must not be entered again from its own callbacks: those are the
// virtual functions on_*() and read_body(), and they may only submit. What else is to be done is
// noted by them and done in deliver(), which receive() and send_into() call before they return. The
// peer's floods (of resets, CONTINUATION, pings, settings) are bounded by the library. Belongs to
// one loop.
class Session {
 public:
  enum class Role { client, server };

  virtual ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // False: the peer broke the protocol; send what is left, then close.
  bool receive(std::string_view bytes);
  // Appends what is to be sent until `out` has `enough` bytes or there is no more. False: broken.
  bool send_into(std::string& out, std::size_t enough);
  // Neither expects nor has anything: close the connection.
  bool finished() const;
  // No new streams; running ones go on.
  void go_away();

  // What the library said about the peer's last mistake; empty if it made none.
  const std::string& complaint() const { return complaint_; }

 protected:
  Session(Role role, const Settings& settings);

  enum class Frame { headers, data };
  // trailers: submitted by now, they end the stream. broken: it is reset.
  enum class BodyEnd { no, yes, trailers, broken };

  struct BodyPart {
    std::size_t size = 0;  // 0 and no end: wait until resume()
    BodyEnd end = BodyEnd::no;
  };

  virtual void on_output() = 0;  // there may be bytes to send
  virtual void deliver() = 0;

  virtual void on_request_begins(std::int32_t) {}  // server

  // False: the stream is reset.
  virtual bool on_field(std::int32_t id, std::string_view name, std::string_view value) = 0;
  virtual void on_data(std::int32_t id, std::string_view bytes) = 0;
  virtual void on_frame(Frame frame, std::int32_t id, bool ends_stream) = 0;
  virtual void on_closed(std::int32_t id, std::uint32_t code) = 0;
  virtual BodyPart read_body(std::int32_t id, std::span<char> into) = 0;

  enum class Body { none, follows };  // follows: read_body() is asked for it
  // The stream's id; below zero: the ids are used up.
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
  bool heard_ = false;  // the peer has said something

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
