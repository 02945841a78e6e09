#include "net/h2/server_session.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>

#include "base/text.hpp"
#include "net/response_head.hpp"
#include "net/serving.hpp"

namespace plim::net::h2 {
namespace {

Settings settings_of(std::size_t max_header) {
  Settings out;
  out.max_header_bytes = static_cast<std::uint32_t>(max_header);
  out.max_streams = kMaxStreams;
  return out;
}

void note_field(Request& request, std::string_view name, std::string_view value) {
  if (name == ":method") {
    request.method = value;
  } else if (name == ":path") {
    auto [path, query] = cut(value, '?');
    request.path = path;
    request.query = query;
  } else if (name == ":authority") {
    request.headers.add("Host", std::string(value));
  } else if (name == "host") {
    if (!request.headers.has("Host")) request.headers.add("Host", std::string(value));
  } else if (!name.starts_with(':')) {
    request.headers.add(std::string(name), std::string(value));
  }
}

// Headers that HTTP/2 forbids: clients reject a response that contains them.
bool is_of_http1(std::string_view name) {
  static constexpr std::array<std::string_view, 4> kNames{"Connection", "Keep-Alive", "Upgrade",
                                                          "Proxy-Connection"};
  return std::any_of(kNames.begin(), kNames.end(),
                     [name](std::string_view one) { return equals_ignoring_case(name, one); });
}

}  // namespace

ServerSession::ServerSession(std::size_t max_header, const Clock& clock)
    : Session(Role::server, settings_of(max_header)), max_header_(max_header), clock_(clock) {}

void ServerSession::answer(Stream& stream, Response response) {
  if (stream.closed || std::exchange(stream.answered, true)) return;
  const fmt::format_int status(response.status), length(response.body.size());
  std::vector<Field> fields;
  fields.reserve(response.headers.size() + 3);
  fields.emplace_back(":status", std::string_view(status.data(), status.size()));
  fields.emplace_back("date", http_date(clock_.wall()));
  for (const auto& [name, value] : response.headers)
    if (is_authors_header(name, value) && !is_of_http1(name)) fields.emplace_back(name, value);
  bool bodiless = has_no_body(response.status);
  if (!bodiless)
    fields.emplace_back("content-length", std::string_view(length.data(), length.size()));
  bool sends_body = !bodiless && !response.body.empty() && stream.request.method != "HEAD";
  submit_response(stream.id, fields, sends_body ? Body::follows : Body::none);
  if (sends_body) stream.out = std::move(response.body);
  on_answer(stream);
}

void ServerSession::refuse(Stream& stream, int status, std::string_view why) {
  answer(stream, refusal(status, why));
}

void ServerSession::give_up(Stream& stream, ErrorCode code) {
  if (stream.closed) return;
  stream.answered = true;
  reset(stream.id, code);
}

void ServerSession::say_continue(Stream& stream) {
  static constexpr std::array<Field, 1> kFields{{{":status", "100"}}};
  submit_informational(stream.id, kFields);
}

void ServerSession::deliver() {
  while (!requests_.empty() || !over_.empty()) {
    for (const StreamPtr& stream : std::exchange(requests_, {}))
      if (!stream->closed && !stream->answered) on_request(stream);
    for (const StreamPtr& stream : std::exchange(over_, {})) on_over(stream);
  }
}

void ServerSession::on_request_begins(std::int32_t id) {
  StreamPtr stream = make_stream();
  stream->id = id;
  stream->request.http2 = true;
  streams_.emplace(id, std::move(stream));
  half_head_ = id;
}

// Trailers arrive here too, but must not change decisions made by the head.
bool ServerSession::on_field(std::int32_t id, std::string_view name, std::string_view value) {
  Stream* stream = find(id);
  if (!stream || stream->head_done) return true;
  stream->header_bytes += name.size() + value.size() + kFieldOverhead;
  if (stream->header_bytes <= max_header_) note_field(stream->request, name, value);
  return true;
}

void ServerSession::on_data(std::int32_t id, std::string_view bytes) {
  Stream* stream = find(id);
  if (!stream || stream->answered) return;
  if (bytes.size() > stream->max_body - stream->body_bytes)
    return refuse(*stream, 413, "the body is too large for this path");
  stream->body_bytes += bytes.size();
  buffered_ += bytes.size();
  bool is_single = buffered_ == stream->body_bytes;
  if ((buffered_ > kMaxBuffered && !is_single) || !has_room(*stream, bytes.size()))
    return give_up(*stream, ErrorCode::refused_stream);
  stream->request.body += bytes;
}

void ServerSession::on_frame(Frame frame, std::int32_t id, bool ends_stream) {
  if (frame == Frame::headers) half_head_ = 0;
  auto it = streams_.find(id);
  if (it == streams_.end()) return;
  Stream& stream = *it->second;
  if (frame == Frame::headers && !std::exchange(stream.head_done, true)) {
    if (stream.header_bytes > max_header_)
      refuse(stream, 431, "header is too large");
    else
      on_head(stream);
  }
  if (ends_stream && !stream.answered) requests_.push_back(it->second);
}

void ServerSession::on_closed(std::int32_t id, std::uint32_t) {
  auto it = streams_.find(id);
  if (it == streams_.end()) return;
  if (half_head_ == id) half_head_ = 0;
  buffered_ -= it->second->body_bytes;
  it->second->closed = true;
  over_.push_back(std::move(it->second));
  streams_.erase(it);
}

Session::BodyPart ServerSession::read_body(std::int32_t id, std::span<char> into) {
  Stream* stream = find(id);
  if (!stream) return {.end = BodyEnd::broken};
  auto n = std::min(into.size(), stream->out.size() - stream->out_sent);
  std::memcpy(into.data(), stream->out.data() + stream->out_sent, n);
  stream->out_sent += n;
  on_sent(*stream, n);
  bool all = stream->out_sent == stream->out.size();
  return {.size = n, .end = all ? BodyEnd::yes : BodyEnd::no};
}

Stream* ServerSession::find(std::int32_t id) const {
  auto it = streams_.find(id);
  return it == streams_.end() ? nullptr : it->second.get();
}

}  // namespace plim::net::h2
