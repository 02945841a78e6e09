// Handles what the peer sends. Called inside the library: only submitting is allowed here.
#include <algorithm>
#include <charconv>
#include <cstring>

#include <fmt/format.h>

#include "net/http.hpp"
#include "net/rpc/session.hpp"
#include "net/rpc/status.hpp"

namespace plim::net::rpc {
namespace {

int parse_status_number(std::string_view text) {
  int number = -1;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : -1;
}

void note_field(Stream& stream, std::string_view name, std::string_view value) {
  if (name == ":status") {
    stream.http_status = parse_status_number(value);
  } else if (name == ":path") {
    stream.path = value;
  } else if (name == ":method") {
    stream.method = value;
  } else if (name == "content-type") {
    stream.content_type = value;
  } else if (name == "grpc-status") {
    int number = parse_status_number(value);  // an invalid number is still a status
    stream.grpc_status = number < 0 ? static_cast<int>(RpcCode::unknown) : number;
  } else if (name == "grpc-message") {
    stream.grpc_message = percent_decode(value);
  } else if (name == "grpc-timeout") {
    stream.timeout = parse_timeout(value);
  }
}

}  // namespace

void Session::on_request_begins(std::int32_t id) {
  auto stream = std::make_shared<Stream>(limits_.max_message);
  stream->id = id;
  streams_.emplace(id, std::move(stream));
}

bool Session::on_field(std::int32_t id, std::string_view name, std::string_view value) {
  StreamPtr stream = find(id);
  if (!stream) return true;
  stream->header_bytes += name.size() + value.size() + h2::kFieldOverhead;
  if (stream->header_bytes > kMaxHeaderBytes) return false;
  note_field(*stream, name, value);
  return true;
}

void Session::on_data(std::int32_t id, std::string_view bytes) {
  // One slow reader must not stop the others: the window of the connection is returned at once,
  // that of the stream only while its reader keeps up.
  consume_connection(bytes.size());
  StreamPtr stream = find(id);
  if (!stream || stream->over()) return consume_stream(id, bytes.size());
  auto before = stream->messages.size();
  RpcStatus status = stream->frames.feed(bytes, stream->messages);
  if (!status.ok()) return fail(stream, std::move(status));
  stream->window_held += bytes.size();
  if (stream->messages.size() < limits_.queued_messages)
    consume_stream(id, std::exchange(stream->window_held, 0));
  if (stream->messages.size() > before) changed(stream);
}

void Session::on_frame(Frame frame, std::int32_t id, bool ends_stream) {
  StreamPtr stream = find(id);
  if (!stream) return;
  if (ends_stream) stream->remote_end = true;
  if (!is_server()) {
    if (frame == Frame::headers && !stream->answered) check_answer(stream);
  } else if (stream->remote_end && !stream->dispatched && !stream->finished) {
    stream->dispatched = true;
    requests_.push_back(std::move(stream));
  }
}

void Session::check_answer(const StreamPtr& stream) {
  if (stream->http_status >= 100 && stream->http_status < 200)
    return;  // the response is not here yet
  stream->answered = true;
  if (stream->http_status != 200 && stream->grpc_status < 0) {
    fail(stream,
         {code_from_http_status(stream->http_status),
          fmt::format("the peer answered with HTTP status {}, not gRPC", stream->http_status)});
  } else if (!stream->content_type.starts_with("application/grpc")) {
    fail(stream, {RpcCode::unknown,
                  fmt::format("the response has the type '{}', not gRPC", stream->content_type)});
  }
}

void Session::on_closed(std::int32_t id, std::uint32_t code) {
  StreamPtr stream = find(id);
  if (!stream) return;
  streams_.erase(id);
  stream->closed = true;
  stream->reset_code = code;
  changed(stream);
}

Session::BodyPart Session::read_body(std::int32_t id, std::span<char> into) {
  StreamPtr stream = find(id);
  if (!stream) return {.end = BodyEnd::broken};
  auto n = std::min(into.size(), stream->unsent());
  std::memcpy(into.data(), stream->out.data() + stream->out_sent, n);
  stream->out_sent += n;
  if (stream->unsent() > 0) return {.size = n};
  stream->out = {};
  stream->out_sent = 0;
  if (!stream->finished) {
    changed(stream);  // a writer may wait for space
    return {.size = n};
  }
  if (!is_server()) return {.size = n, .end = BodyEnd::yes};
  submit_status(*stream);
  return {.size = n, .end = BodyEnd::trailers};
}

}  // namespace plim::net::rpc
