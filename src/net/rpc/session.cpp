// The interface of a session; session_events.cpp handles what the peer sends.
#include "net/rpc/session.hpp"

#include <array>
#include <utility>

#include <fmt/format.h>
#include <nghttp2/nghttp2.h>

#include "net/rpc/status.hpp"

namespace plim::net::rpc {
namespace {

constexpr std::string_view kContentType = "application/grpc";

std::string number(RpcCode code) {
  return std::to_string(static_cast<int>(code));
}

h2::Settings settings_of(const RpcLimits& limits) {
  h2::Settings out;
  out.stream_window = limits.stream_window;
  out.connection_window = limits.connection_window;
  // One slow reader must not stop the others: see on_data().
  out.windows_by_themselves = false;
  out.max_header_bytes = kMaxHeaderBytes;
  out.max_streams = limits.max_streams;
  // With the default, a client that cancels many calls would lose its connection; peers here are
  // local and need permission to connect.
  out.resets_at_once = 10'000;
  out.resets_per_second = 1'000;
  // Go keeps spaces at the ends of grpc-message; a strict parser would drop the text.
  out.blanks_around_values = true;
  return out;
}

}  // namespace

bool Stream::refused() const {
  return reset_code == NGHTTP2_REFUSED_STREAM;
}

RpcStatus Stream::verdict() const {
  if (failed) return *failed;
  if (grpc_status == 0 && frames.mid_message())
    return {RpcCode::internal, "the response ends inside a message"};
  if (grpc_status >= 0) return {code_from_number(grpc_status), grpc_message};
  if (reset_code != NGHTTP2_NO_ERROR)
    return {code_from_reset(reset_code),
            fmt::format("the peer reset the call: {}", nghttp2_http2_strerror(reset_code))};
  return {RpcCode::unknown, "the response has no grpc-status"};
}

Session::Session(Role role, RpcLimits limits, Hooks hooks)
    : h2::Session(role, settings_of(limits)), limits_(limits), hooks_(std::move(hooks)) {}

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

StreamPtr Session::request(std::string_view path, std::string_view message,
                           RpcClock::duration timeout, const RpcMetadata& metadata) {
  auto stream = std::make_shared<Stream>(limits_.max_message);
  std::string timeout_text;
  std::vector<h2::Field> fields{{":method", "POST"},       {":scheme", "http"},
                                {":path", path},           {":authority", "localhost"},
                                {"te", "trailers"},        {"content-type", kContentType},
                                {"user-agent", "plimsoll"}};
  if (timeout != kNoDeadline) {
    timeout_text = format_timeout(timeout);
    fields.emplace_back("grpc-timeout", timeout_text);
  }
  for (const auto& [name, value] : metadata) fields.emplace_back(name, value);
  append_frame(stream->out, message);
  stream->finished = true;
  stream->id = submit_request(fields, Body::follows);
  if (stream->id >= 0) streams_.emplace(stream->id, stream);
  return stream;
}

void Session::cancel(Stream& stream, RpcStatus why) {
  if (stream.over() || stream.id < 0) return;
  stream.failed = std::move(why);
  streams_.erase(stream.id);
  reset(stream.id, h2::ErrorCode::cancel);
}

std::string Session::take(Stream& stream) {
  std::string message = std::move(stream.messages.front());
  stream.messages.pop_front();
  bool caught_up = stream.messages.size() < limits_.queued_messages;
  if (stream.window_held > 0 && caught_up && !stream.over()) {
    consume_stream(stream.id, std::exchange(stream.window_held, 0));
    on_output();
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
  stream.headers_submitted = true;
  std::string code = number(stream.trailer.code);
  std::string text = percent_encode(stream.trailer.message);
  const std::array<h2::Field, 4> fields{{{":status", "200"},
                                         {"content-type", kContentType},
                                         {"grpc-status", code},
                                         {"grpc-message", text}}};
  submit_response(stream.id, std::span(fields).first(text.empty() ? 3 : 4), Body::none);
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
  const std::array<h2::Field, 1> fields{{{":status", http_status}}};
  submit_response(stream.id, fields, Body::none);
}

// Headers leave with the first bytes of the body; later bytes resume a body that had no data.
void Session::submit_headers(Stream& stream) {
  if (stream.headers_submitted) return resume(stream.id);
  stream.headers_submitted = true;
  const std::array<h2::Field, 2> fields{{{":status", "200"}, {"content-type", kContentType}}};
  submit_response(stream.id, fields, Body::follows);
}

void Session::submit_status(const Stream& stream) {
  std::string code = number(stream.trailer.code);
  std::string text = percent_encode(stream.trailer.message);
  const std::array<h2::Field, 2> fields{{{"grpc-status", code}, {"grpc-message", text}}};
  submit_trailer(stream.id, std::span(fields).first(text.empty() ? 1 : 2));
}

// The call fails because of what the peer sent.
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

void Session::on_output() {
  if (hooks_.on_output) hooks_.on_output();
}

StreamPtr Session::find(std::int32_t id) const {
  auto it = streams_.find(id);
  return it == streams_.end() ? nullptr : it->second;
}

}  // namespace plim::net::rpc
