// The server side of an HTTP/2 connection, without a socket: bytes to requests, responses to bytes.
// For .cpp files of net and its fuzz target only.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.hpp"
#include "net/h2/session.hpp"
#include "net/http.hpp"

namespace plim::net::h2 {

// One request with its response. Only the session changes it; users may derive from it to add
// members.
struct Stream {
  virtual ~Stream() = default;

  std::int32_t id = 0;
  Request request;  // its body grows until it is complete
  std::size_t header_bytes = 0;
  std::size_t max_body = 0;    // set by on_head()
  std::size_t body_bytes = 0;  // received
  bool head_done = false;
  bool answered = false;  // or given up: further data from the client is dropped
  bool closed = false;

  std::string out;  // the body of the response
  std::size_t out_sent = 0;
};

using StreamPtr = std::shared_ptr<Stream>;

// Concurrent streams of one connection; more wait in the client.
inline constexpr std::uint32_t kMaxStreams = 100;

// Limits what a client can do: a head by `max_header` (431), a body by max_body of its stream
// (413), all bodies of a connection together by kMaxBuffered (further ones are refused, unless it
// is the only one). Belongs to one loop.
class ServerSession : public Session {
 public:
  static constexpr std::size_t kMaxBuffered = 32u << 20;

  ServerSession(std::size_t max_header, const Clock& clock);

  std::size_t streams() const { return streams_.size(); }

 protected:
  virtual StreamPtr make_stream() = 0;
  // Called inside the library. The head is complete: answer, give up, or set max_body and wait.
  virtual void on_head(Stream& stream) = 0;
  // Called inside the library when bytes of the response are taken.
  virtual void on_answer(Stream& stream) = 0;
  virtual void on_sent(Stream& stream, std::size_t bytes) = 0;
  // Called inside the library, before these bytes are added to the body. False: refuses the
  // request.
  virtual bool has_room(Stream& stream, std::size_t bytes) = 0;
  // A complete request; the response may come at any time.
  virtual void on_request(const StreamPtr& stream) = 0;
  // The stream is closed, answered or not; the session has dropped it.
  virtual void on_over(const StreamPtr& stream) = 0;

  // Does nothing for a stream that is answered or closed.
  void answer(Stream& stream, Response response);
  void refuse(Stream& stream, int status, std::string_view why);
  void give_up(Stream& stream, ErrorCode code);
  void say_continue(Stream& stream);

  // The stream whose head is incomplete; 0: none.
  std::int32_t half_head() const { return half_head_; }

  template <class Function>
  void for_each_stream(Function function) {
    for (const auto& [id, stream] : streams_) function(*stream);
  }

 private:
  void deliver() final;
  void on_request_begins(std::int32_t id) final;
  bool on_field(std::int32_t id, std::string_view name, std::string_view value) final;
  void on_data(std::int32_t id, std::string_view bytes) final;
  void on_frame(Frame frame, std::int32_t id, bool ends_stream) final;
  void on_closed(std::int32_t id, std::uint32_t code) final;
  BodyPart read_body(std::int32_t id, std::span<char> into) final;
  Stream* find(std::int32_t id) const;

  const std::size_t max_header_;
  const Clock& clock_;
  std::unordered_map<std::int32_t, StreamPtr> streams_;
  std::vector<StreamPtr> requests_, over_;  // not reported yet
  std::size_t buffered_ = 0;                // bytes of all bodies
  std::int32_t half_head_ = 0;
};

}  // namespace plim::net::h2
