#include "net/rpc/session.hpp"

#include <array>
#include <utility>

#include <fmt/format.h>
#include <nghttp2/nghttp2.h>

#include "net/rpc/session_callbacks.hpp"
#include "net/rpc/status.hpp"

namespace plim::net::rpc {
namespace {

constexpr std::string_view kContentType = "application/grpc";

// nghttp2 copies names and values.
nghttp2_nv header(std::string_view name, std::string_view value) {
  auto bytes = [](std::string_view text) {
    return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
  };
  return {bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
}

std::string number(RpcCode code) {
  return std::to_string(static_cast<int>(code));
}

}  // namespace

bool Stream::refused() const {
  return reset_code == NGHTTP2_REFUSED_STREAM;
}

RpcStatus Stream::verdict() const {
  if (failed) return *failed;
  if (grpc_status == 0 && frames.mid_message())
    return {RpcCode::internal, "the answer ends inside a message"};
  if (grpc_status >= 0) return {code_from_number(grpc_status), grpc_message};
  if (reset_code != NGHTTP2_NO_ERROR)
    return {code_from_reset(reset_code),
            fmt::format("the peer reset the call: {}", nghttp2_http2_strerror(reset_code))};
  return {RpcCode::unknown, "the answer has no grpc-status"};
}

Session::Session(Role role, RpcLimits limits, Hooks hooks)
    : role_(role), limits_(limits), hooks_(std::move(hooks)) {
  session_.reset(Callbacks::new_session(*this));
  submit_settings();
}

Session::~Session() = default;

void Session::Free::operator()(nghttp2_session* session) const {
  nghttp2_session_del(session);
}

void Session::submit_settings() {
  std::array settings{
      nghttp2_settings_entry{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, limits_.stream_window},
      nghttp2_settings_entry{NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, kMaxHeaderBytes},
      is_server()
          ? nghttp2_settings_entry{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, limits_.max_streams}
          : nghttp2_settings_entry{NGHTTP2_SETTINGS_ENABLE_PUSH, 0}};
  int failed =
      nghttp2_submit_settings(session_.get(), NGHTTP2_FLAG_NONE, settings.data(), settings.size());
  PLIM_ASSERT(failed == 0);
  nghttp2_session_set_local_window_size(session_.get(), NGHTTP2_FLAG_NONE, 0,
                                        static_cast<std::int32_t>(limits_.connection_window));
}

bool Session::receive(std::string_view bytes) {
  heard_ = true;
  auto taken = nghttp2_session_mem_recv(
      session_.get(), reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  if (taken < 0 && complaint_.empty()) complaint_ = nghttp2_strerror(static_cast<int>(taken));
  deliver();
  return taken >= 0;
}

bool Session::send_into(std::string& out, std::size_t enough) {
  bool sound = true;
  while (out.size() < enough) {
    const std::uint8_t* bytes = nullptr;
    auto n = nghttp2_session_mem_send(session_.get(), &bytes);
    sound = n >= 0;
    if (n <= 0) break;
    out.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(n));
  }
  deliver();
  return sound;
}

bool Session::finished() const {
  return !nghttp2_session_want_read(session_.get()) && !nghttp2_session_want_write(session_.get());
}

void Session::abort(const RpcStatus& why, Gone how) {
  going_away_ = true;
  bool unseen = how == Gone::lost && !is_server() && !heard_;
  for (auto& [id, stream] : std::exchange(streams_, {})) {
    if (unseen) stream->reset_code = NGHTTP2_REFUSED_STREAM;
    bool has_answer = stream->remote_end && stream->grpc_status >= 0;
    if (!stream->failed && !has_answer) stream->failed = why;
    stream->closed = true;
    changed(stream);
  }
  deliver();
}

void Session::go_away() {
  if (std::exchange(going_away_, true)) return;
  nghttp2_submit_goaway(session_.get(), NGHTTP2_FLAG_NONE,
                        nghttp2_session_get_last_proc_stream_id(session_.get()), NGHTTP2_NO_ERROR,
                        nullptr, 0);
  output();
}

StreamPtr Session::request(std::string_view path, std::string_view message,
                           RpcClock::time_point deadline, const RpcMetadata& metadata) {
  auto stream = std::make_shared<Stream>(limits_.max_message);
  std::string timeout;
  std::vector<nghttp2_nv> headers{
      header(":method", "POST"),       header(":scheme", "http"),
      header(":path", path),           header(":authority", "localhost"),
      header("te", "trailers"),        header("content-type", kContentType),
      header("user-agent", "plimsoll")};
  if (deadline != RpcClock::time_point::max()) {
    timeout = format_timeout(deadline - RpcClock::now());
    headers.push_back(header("grpc-timeout", timeout));
  }
  for (const auto& [name, value] : metadata) headers.push_back(header(name, value));
  append_frame(stream->out, message);
  stream->finished = true;
  auto body = Callbacks::body_of_stream();
  stream->id = nghttp2_submit_request(session_.get(), nullptr, headers.data(), headers.size(),
                                      &body, nullptr);
  if (stream->id < 0) {
    going_away_ = true;  // the ids are used up
    return stream;
  }
  streams_.emplace(stream->id, stream);
  output();
  return stream;
}

void Session::cancel(Stream& stream, RpcStatus why) {
  if (stream.over() || stream.id < 0) return;
  stream.failed = std::move(why);
  streams_.erase(stream.id);
  nghttp2_submit_rst_stream(session_.get(), NGHTTP2_FLAG_NONE, stream.id, NGHTTP2_CANCEL);
  output();
}

std::string Session::take(Stream& stream) {
  std::string message = std::move(stream.messages.front());
  stream.messages.pop_front();
  bool caught_up = stream.messages.size() < limits_.queued_messages;
  if (stream.window_held > 0 && caught_up && !stream.over()) {
    nghttp2_session_consume_stream(session_.get(), stream.id, std::exchange(stream.window_held, 0));
    output();
  }
  return message;
}

void Session::send(Stream& stream, std::string_view message) {
  if (stream.over() || stream.finished) return;
  append_frame(stream.out, message);
  submit_headers(stream);
}

void Session::finish(Stream& stream, RpcStatus status) {
  if (stream.finished || stream.closed) return;
  stream.finished = true;
  stream.trailer = std::move(status);
  if (stream.headers_submitted) return submit_headers(stream);
  std::string code = number(stream.trailer.code);
  std::string text = percent_encode(stream.trailer.message);
  const std::array headers{header(":status", "200"), header("content-type", kContentType),
                           header("grpc-status", code), header("grpc-message", text)};
  nghttp2_submit_response(session_.get(), stream.id, headers.data(),
                          text.empty() ? headers.size() - 1 : headers.size(), nullptr);
  stream.headers_submitted = true;
  output();
}

void Session::cut_short(Stream& stream, RpcStatus status) {
  if (stream.over()) return;
  stream.failed = status;
  stream.out = {};
  stream.out_sent = 0;
  finish(stream, std::move(status));
}

void Session::refuse(Stream& stream, std::string_view http_status) {
  stream.finished = stream.headers_submitted = true;
  const std::array headers{header(":status", http_status)};
  nghttp2_submit_response(session_.get(), stream.id, headers.data(), headers.size(), nullptr);
  output();
}

// Headers go out with the first bytes of the body; later bytes wake a body that ran dry.
void Session::submit_headers(Stream& stream) {
  if (stream.headers_submitted) {
    nghttp2_session_resume_data(session_.get(), stream.id);
  } else {
    const std::array headers{header(":status", "200"), header("content-type", kContentType)};
    auto body = Callbacks::body_of_stream();
    nghttp2_submit_response(session_.get(), stream.id, headers.data(), headers.size(), &body);
    stream.headers_submitted = true;
  }
  output();
}

void Session::submit_trailer(const Stream& stream) {
  std::string code = number(stream.trailer.code);
  std::string text = percent_encode(stream.trailer.message);
  const std::array headers{header("grpc-status", code), header("grpc-message", text)};
  nghttp2_submit_trailer(session_.get(), stream.id, headers.data(),
                         text.empty() ? headers.size() - 1 : headers.size());
}

// Our own verdict on what the peer sends.
void Session::fail(const StreamPtr& stream, RpcStatus why) {
  if (is_server()) {
    cut_short(*stream, std::move(why));
  } else {
    cancel(*stream, std::move(why));
  }
  changed(stream);
}

void Session::changed(const StreamPtr& stream) {
  if (!std::exchange(stream->change_queued, true)) changed_.push_back(stream);
}

void Session::deliver() {
  while (!requests_.empty() || !changed_.empty()) {
    for (const StreamPtr& stream : std::exchange(requests_, {}))
      if (!stream->over()) hooks_.on_request(stream);
    for (const StreamPtr& stream : std::exchange(changed_, {})) {
      stream->change_queued = false;
      if (stream->on_change) stream->on_change();
    }
  }
}

void Session::output() {
  if (hooks_.on_output) hooks_.on_output();
}

StreamPtr Session::find(std::int32_t id) const {
  auto it = streams_.find(id);
  return it == streams_.end() ? nullptr : it->second;
}

}  // namespace plim::net::rpc
