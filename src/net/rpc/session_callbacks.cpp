#include "net/rpc/session_callbacks.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

#include <fmt/format.h>

#include "net/http.hpp"
#include "net/rpc/status.hpp"

namespace plim::net::rpc {
namespace {

std::string_view as_text(const std::uint8_t* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

int parse_status_number(std::string_view text) {
  int number = -1;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : -1;
}

struct FreeOption {
  void operator()(nghttp2_option* option) const { nghttp2_option_del(option); }
};

struct FreeCallbacks {
  void operator()(nghttp2_session_callbacks* callbacks) const {
    nghttp2_session_callbacks_del(callbacks);
  }
};

std::unique_ptr<nghttp2_option, FreeOption> session_options() {
  nghttp2_option* option = nullptr;
  PLIM_ASSERT(nghttp2_option_new(&option) == 0);
  nghttp2_option_set_no_auto_window_update(option, 1);
  nghttp2_option_set_no_closed_streams(option, 1);
  // Go leaves blanks at the ends of grpc-message; a strict parser would drop the text.
  nghttp2_option_set_no_rfc9113_leading_and_trailing_ws_validation(option, 1);
  // The default (1000, then 33 a second) would end the connection of a client that gives up a batch
  // of calls; peers here are local and need permission to connect.
  nghttp2_option_set_stream_reset_rate_limit(option, 10'000, 1'000);
  return std::unique_ptr<nghttp2_option, FreeOption>(option);
}

}  // namespace

nghttp2_session* Session::Callbacks::new_session(Session& owner) {
  nghttp2_session_callbacks* raw = nullptr;
  PLIM_ASSERT(nghttp2_session_callbacks_new(&raw) == 0);
  std::unique_ptr<nghttp2_session_callbacks, FreeCallbacks> callbacks(raw);
  nghttp2_session_callbacks_set_on_begin_headers_callback(raw, &on_begin_headers);
  nghttp2_session_callbacks_set_on_header_callback(raw, &on_header);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(raw, &on_data);
  nghttp2_session_callbacks_set_on_frame_recv_callback(raw, &on_frame_received);
  nghttp2_session_callbacks_set_on_frame_send_callback(raw, &on_frame_sent);
  nghttp2_session_callbacks_set_on_stream_close_callback(raw, &on_stream_close);
  nghttp2_session_callbacks_set_error_callback2(raw, &on_error);
  auto option = session_options();
  auto create = owner.is_server() ? &nghttp2_session_server_new2 : &nghttp2_session_client_new2;
  nghttp2_session* session = nullptr;
  PLIM_ASSERT(create(&session, raw, &owner, option.get()) == 0);
  return session;
}

nghttp2_data_provider Session::Callbacks::body_of_stream() {
  return {{.ptr = nullptr}, &read_body};
}

int Session::Callbacks::on_begin_headers(nghttp2_session*, const nghttp2_frame* frame,
                                         void* owner) {
  auto& session = *static_cast<Session*>(owner);
  if (!session.is_server() || frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0;
  auto stream = std::make_shared<Stream>(session.limits_.max_message);
  stream->id = frame->hd.stream_id;
  session.streams_.emplace(stream->id, std::move(stream));
  return 0;
}

int Session::Callbacks::on_header(nghttp2_session*, const nghttp2_frame* frame,
                                  const std::uint8_t* name, std::size_t name_size,
                                  const std::uint8_t* value, std::size_t value_size, std::uint8_t,
                                  void* owner) {
  StreamPtr stream = static_cast<Session*>(owner)->find(frame->hd.stream_id);
  if (!stream) return 0;
  constexpr std::size_t kOverhead = 32;  // per field, as RFC 9113 counts
  stream->header_bytes += name_size + value_size + kOverhead;
  if (stream->header_bytes > kMaxHeaderBytes) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  note_header(*stream, as_text(name, name_size), as_text(value, value_size));
  return 0;
}

void Session::Callbacks::note_header(Stream& stream, std::string_view name,
                                     std::string_view value) {
  if (name == ":status") {
    stream.http_status = parse_status_number(value);
  } else if (name == ":path") {
    stream.path = value;
  } else if (name == ":method") {
    stream.method = value;
  } else if (name == "content-type") {
    stream.content_type = value;
  } else if (name == "grpc-status") {
    int number = parse_status_number(value);  // nonsense is still a status, not "none yet"
    stream.grpc_status = number < 0 ? static_cast<int>(RpcCode::unknown) : number;
  } else if (name == "grpc-message") {
    stream.grpc_message = percent_decode(value);
  } else if (name == "grpc-timeout") {
    stream.timeout = parse_timeout(value);
  }
}

int Session::Callbacks::on_data(nghttp2_session* h2, std::uint8_t, std::int32_t id,
                                const std::uint8_t* data, std::size_t size, void* owner) {
  auto& session = *static_cast<Session*>(owner);
  // One slow reader must not stop the others: the connection's window is given back at once, the
  // stream's only while its reader keeps up.
  nghttp2_session_consume_connection(h2, size);
  StreamPtr stream = session.find(id);
  if (!stream || stream->over()) {
    nghttp2_session_consume_stream(h2, id, size);
    return 0;
  }
  auto before = stream->messages.size();
  RpcStatus status = stream->frames.feed(as_text(data, size), stream->messages);
  if (!status.ok()) {
    session.fail(stream, std::move(status));
    return 0;
  }
  stream->window_held += size;
  if (stream->messages.size() < session.limits_.queued_messages) {
    nghttp2_session_consume_stream(h2, id, stream->window_held);
    stream->window_held = 0;
  }
  if (stream->messages.size() > before) session.changed(stream);
  return 0;
}

int Session::Callbacks::on_frame_received(nghttp2_session*, const nghttp2_frame* frame,
                                          void* owner) {
  auto& session = *static_cast<Session*>(owner);
  if (frame->hd.type == NGHTTP2_GOAWAY) session.going_away_ = true;
  if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) return 0;
  StreamPtr stream = session.find(frame->hd.stream_id);
  if (!stream) return 0;
  if (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) stream->remote_end = true;
  if (!session.is_server()) {
    if (frame->hd.type == NGHTTP2_HEADERS && !stream->answered) check_answer(session, stream);
  } else if (stream->remote_end && !stream->dispatched && !stream->finished) {
    stream->dispatched = true;
    session.requests_.push_back(std::move(stream));
  }
  return 0;
}

void Session::Callbacks::check_answer(Session& session, const StreamPtr& stream) {
  if (stream->http_status >= 100 && stream->http_status < 200)
    return;  // the answer is still to come
  stream->answered = true;
  if (stream->http_status != 200 && stream->grpc_status < 0) {
    session.fail(stream, {code_from_http_status(stream->http_status),
                          fmt::format("the peer answered with HTTP status {}, not gRPC",
                                      stream->http_status)});
  } else if (!stream->content_type.starts_with("application/grpc")) {
    session.fail(stream, {RpcCode::unknown, fmt::format("the answer is of type '{}', not gRPC",
                                                        stream->content_type)});
  }
}

int Session::Callbacks::on_frame_sent(nghttp2_session* h2, const nghttp2_frame* frame,
                                      void* owner) {
  auto& session = *static_cast<Session*>(owner);
  bool ends_stream =
      frame->hd.type == NGHTTP2_HEADERS && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM);
  if (!session.is_server() || !ends_stream) return 0;
  // The peer may stop sending its request now. Submitted earlier, this would overtake the trailers.
  StreamPtr stream = session.find(frame->hd.stream_id);
  if (stream && !stream->remote_end)
    nghttp2_submit_rst_stream(h2, NGHTTP2_FLAG_NONE, stream->id, NGHTTP2_NO_ERROR);
  return 0;
}

int Session::Callbacks::on_stream_close(nghttp2_session*, std::int32_t id, std::uint32_t code,
                                        void* owner) {
  auto& session = *static_cast<Session*>(owner);
  StreamPtr stream = session.find(id);
  if (!stream) return 0;
  session.streams_.erase(id);
  stream->closed = true;
  stream->reset_code = code;
  session.changed(stream);
  return 0;
}

int Session::Callbacks::on_error(nghttp2_session*, int, const char* text, std::size_t size,
                                 void* owner) {
  static_cast<Session*>(owner)->complaint_.assign(text, size);
  return 0;
}

ssize_t Session::Callbacks::read_body(nghttp2_session*, std::int32_t id, std::uint8_t* buffer,
                                      std::size_t size, std::uint32_t* flags, nghttp2_data_source*,
                                      void* owner) {
  auto& session = *static_cast<Session*>(owner);
  StreamPtr stream = session.find(id);
  if (!stream) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  auto n = std::min(size, stream->unsent());
  std::memcpy(buffer, stream->out.data() + stream->out_sent, n);
  stream->out_sent += n;
  if (stream->unsent() > 0) return static_cast<ssize_t>(n);
  stream->out = {};
  stream->out_sent = 0;
  if (stream->finished) {
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (session.is_server()) {
      *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
      session.submit_trailer(*stream);
    }
    return static_cast<ssize_t>(n);
  }
  session.changed(stream);  // a writer may wait for room
  if (n == 0) return NGHTTP2_ERR_DEFERRED;
  return static_cast<ssize_t>(n);
}

}  // namespace plim::net::rpc
