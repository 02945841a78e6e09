#include "net/h2/server_connection.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/log.hpp"
#include "base/text.hpp"
#include "net/gzip.hpp"
#include "net/response_head.hpp"
#include "net/serving.hpp"

namespace plim::net::h2 {
namespace asio = boost::asio;

namespace {

constexpr std::size_t kWriteBatch = 64 << 10;   // the peer must read this much in time
constexpr std::size_t kAnswerStep = 256 << 10;  // and this much of a response
constexpr std::size_t kKeptBuffer = 16 << 10;   // an idle connection keeps no larger one
constexpr std::size_t kReserve = 64 << 10;      // at most, before any byte of a body arrived

// Shared by all connections of this thread's loop: nothing else runs between a read and its
// parsing.
std::span<char> read_buffer() {
  thread_local std::array<char, 16 << 10> buffer;  // the largest TLS record
  return buffer;
}

std::uint64_t announced_length(const Request& request) {
  std::string_view text = request.headers.get("Content-Length");
  std::uint64_t length = 0;
  std::from_chars(text.data(), text.data() + text.size(), length);  // the library has checked it
  return length;
}

Result<std::string> gunzip_whole(std::string_view bytes, std::size_t max_output) {
  Gunzip gunzip(max_output);
  std::string out;
  PLIM_CHECK(gunzip.feed(bytes, out));
  PLIM_CHECK(gunzip.finish());
  return out;
}

// A coroutine, so that a handler may throw before its first wait.
Task<Reply> run_handler(const Route& route, Request request) {
  Reply reply = co_await route.handler(std::move(request));
  co_return reply;
}

std::string what_it_says(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    return e.what();
  }
}

}  // namespace

struct ServerConnection::Call final : Stream {
  enum class Phase { receiving, handling, answering };

  explicit Call(ServerConnection& connection)
      : server(connection.server_),
        part(server->bodies, connection.peer_key_),
        alarm(connection.share_->watchdog,
              [this, owner = &connection] { owner->alarm_rang(*this); }) {}

  void cancel_handler() {
    if (phase == Phase::handling) cancel.emit(asio::cancellation_type::terminal);
  }

  const std::shared_ptr<ServerState> server;
  Quota::Part part;  // of the memory for bodies, until the handler has returned
  const Route* route = nullptr;
  Alarm alarm;
  asio::cancellation_signal cancel;
  Phase phase = Phase::receiving;
  std::size_t unwatched = 0;  // bytes of the response since the alarm was set
  bool takes_gzip = false, timed_out = false;
};

ServerConnection::ServerConnection(std::shared_ptr<ServerState> server,
                                   std::shared_ptr<LoopShare> share,
                                   std::shared_ptr<ByteStream> stream, Peer peer,
                                   std::string peer_key)
    : ServerSession(server->options.max_header, server->clock),
      server_(std::move(server)),
      share_(std::move(share)),
      stream_(std::move(stream)),
      peer_(std::move(peer)),
      peer_key_(std::move(peer_key)),
      alarm_(share_->watchdog, [this] { alarm_rang(); }),
      stuck_(share_->watchdog, [this] { end("the client does not read its responses"); }),
      write_limit_(server_->options.header_timeout),
      idle_(share_->loop, SteadyTime::max()) {}

Task<void> ServerConnection::run() {
  auto self = shared_from_this();
  alarm_.arm(server_->options.header_timeout);
  if (server_->draining) go_away();
  on_output();  // sends our settings
  while (!ended_) {
    Result<void> ready = co_await stream_->wait_readable();
    if (!ready) break;
    std::span<char> buffer = read_buffer();
    Result<std::size_t> count = co_await stream_->read(buffer);
    if (!count || *count == 0) break;
    bool sound = receive(std::string_view(buffer.data(), *count));
    write();  // includes what the library sends to a peer that broke the protocol
    if (!sound) break;
    watch_time();
  }
  if (!complaint().empty())
    log::debug("http", "HTTP/2 client broke the protocol",
               {{"peer", peer_.address}, {"what", complaint()}});
  end("the connection has ended");
  cancel_handlers();
  while (running_ > 0 || writer_waits_)
    co_await idle_.async_wait(asio::as_tuple(asio::use_awaitable));
}

void ServerConnection::abort() {
  end("server is stopping");
  cancel_handlers();
}

void ServerConnection::cancel_handlers() {
  for_each_stream([](Stream& stream) { static_cast<Call&>(stream).cancel_handler(); });
}

// run() resumes from its wait, and ends.
void ServerConnection::end(std::string why) {
  ended_ = true;
  stream_->interrupt(fail(Code::cancelled, std::move(why)));
}

StreamPtr ServerConnection::make_stream() {
  return std::make_shared<Call>(*this);
}

void ServerConnection::on_head(Stream& stream) {
  auto& call = static_cast<Call&>(stream);
  Request& request = call.request;
  if (auto refusal = objection(request)) return refuse(call, refusal->status, refusal->why);
  call.route = server_->router.find(request.method, request.path);
  if (!call.route) return answer(call, no_route(server_->router, request.path));
  if (call.route->streaming) return give_up(call, ErrorCode::http_1_1_required);
  call.max_body = call.route->options.max_body;
  // A client has as long to read a response as it had to send the body of its request, as with
  // HTTP/1.1.
  write_limit_ = std::min(server_->options.idle_timeout, call.route->options.body_timeout);
  std::uint64_t announced = announced_length(request);
  if (announced > call.max_body) return refuse(call, 413, "the body is too large for this path");
  request.body.reserve(std::min<std::uint64_t>(announced, kReserve));
  call.alarm.arm(call.route->options.body_timeout);
  if (request.headers.has("Expect")) say_continue(call);
}

bool ServerConnection::has_room(Stream& stream, std::size_t bytes) {
  return static_cast<Call&>(stream).part.grow(bytes);
}

void ServerConnection::on_request(const StreamPtr& stream) {
  auto& call = static_cast<Call&>(*stream);
  // Handlers of streams that the client has reset may still be ending.
  if (running_ >= kMaxStreams) return give_up(call, ErrorCode::refused_stream);
  Request& request = call.request;
  if (equals_ignoring_case(request.headers.get("Content-Encoding"), "gzip")) {
    Result<std::string> plain = gunzip_whole(request.body, call.max_body);
    if (!plain) return refuse(call, status_of_receiving(plain.error(), 413), plain.error().message);
    if (!call.part.grow(plain->size())) return give_up(call, ErrorCode::refused_stream);
    request.body = std::move(*plain);
  }
  request.peer = peer_;
  call.takes_gzip = accepts_gzip(request.headers.get("Accept-Encoding"));
  call.phase = Call::Phase::handling;
  call.alarm.arm(call.route->options.handler_timeout);
  ++running_;
  Request left{.method = request.method};  // needed for the form of the response
  Request taken = std::exchange(request, std::move(left));
  auto done = [self = shared_from_this(), stream](const std::exception_ptr& error, Reply reply) {
    self->handled(static_cast<Call&>(*stream), error, std::move(reply));
  };
  asio::co_spawn(share_->loop, run_handler(*call.route, std::move(taken)),
                 asio::bind_cancellation_slot(call.cancel.slot(), std::move(done)));
}

void ServerConnection::handled(Call& call, const std::exception_ptr& error, Reply reply) {
  --running_;
  call.phase = Call::Phase::answering;
  bool is_ours = !ended_ && !call.closed && !call.timed_out;  // otherwise it was cancelled
  if (call.timed_out) {
    answer(call, handler_too_slow());
  } else if (error && is_ours) {
    log::error("http", "handler threw",
               {{"route", call.route->pattern}, {"what", what_it_says(error)}});
    answer(call, handler_failed());
  } else if (auto* response = std::get_if<Response>(&reply); response && !error) {
    if (response->headers.has_token("Connection", "close")) go_away();
    if (call.takes_gzip) gzip_if_worth(*response, server_->options.gzip_from);
    answer(call, std::move(*response));
  } else {
    give_up(call, ErrorCode::http_1_1_required);
  }
  watch_time();
  if (ended_) idle_.cancel();
}

void ServerConnection::on_answer(Stream& stream) {
  auto& call = static_cast<Call&>(stream);
  call.phase = Call::Phase::answering;
  call.alarm.arm(write_limit_);
  call.unwatched = 0;
}

void ServerConnection::on_sent(Stream& stream, std::size_t bytes) {
  auto& call = static_cast<Call&>(stream);
  call.unwatched += bytes;
  if (call.unwatched >= kAnswerStep) on_answer(stream);
}

void ServerConnection::on_over(const StreamPtr& stream) {
  auto& call = static_cast<Call&>(*stream);
  call.alarm.disarm();
  call.cancel_handler();
}

void ServerConnection::alarm_rang(Call& call) {
  switch (call.phase) {
    case Call::Phase::receiving:
      return refuse(call, 408, "timed out waiting for the client");
    case Call::Phase::handling:
      call.timed_out = true;
      return call.cancel_handler();
    case Call::Phase::answering:
      return give_up(call, ErrorCode::cancel);
  }
}

// Checks the limits of the connection; a stream has its own for body, handler and response. Pings
// and similar frames do not extend the wait for a request.
void ServerConnection::watch_time() {
  Wait now = wait_;
  if (half_head() != 0)
    now = Wait::head;
  else if (streams() > 0 || running_ > 0)
    now = Wait::answers;
  else if (wait_ != Wait::greeting)
    now = Wait::request;
  if (now == wait_ && half_head() == waits_for_head_) return;
  wait_ = now;
  waits_for_head_ = half_head();
  if (now == Wait::answers)
    alarm_.disarm();
  else
    alarm_.arm(now == Wait::head ? server_->options.header_timeout : server_->options.idle_timeout);
}

void ServerConnection::alarm_rang() {
  // Sends GOAWAY to an idle client, so that it does not see this as a failure.
  if (wait_ == Wait::request && !going_away_) return go_away();
  end("timed out waiting for the client");
}

// Posted to the loop, never called directly: the library's callbacks announce output, and responses
// that are ready together leave in one write.
void ServerConnection::on_output() {
  if (ended_ || writer_waits_ || std::exchange(write_scheduled_, true)) return;
  asio::post(share_->loop, [self = shared_from_this()] {
    self->write_scheduled_ = false;
    self->write();
    self->watch_time();
  });
}

void ServerConnection::write() {
  if (ended_ || writer_waits_) return;
  for (;;) {
    if (!send_into(out_, out_sent_ + kWriteBatch)) return end("connection lost");
    if (out_.empty()) break;
    auto step = stream_->try_write(std::string_view(out_).substr(out_sent_));
    switch (step.state) {
      case ByteStream::Step::State::done:
        out_sent_ += step.bytes;
        break;
      case ByteStream::Step::State::wants_read:
      case ByteStream::Step::State::wants_write:
        writer_waits_ = true;
        asio::co_spawn(share_->loop, write_rest(), asio::detached);
        return;
      default:
        return end("connection lost");
    }
    if (out_sent_ < out_.size()) continue;
    out_.clear();
    out_sent_ = 0;
    if (out_.capacity() > kKeptBuffer) out_.shrink_to_fit();
  }
  if (finished()) end("the connection has ended");
}

Task<void> ServerConnection::write_rest() {
  auto self = shared_from_this();
  stuck_.arm(write_limit_);
  Result<void> written = co_await stream_->write(std::string_view(out_).substr(out_sent_));
  stuck_.disarm();
  writer_waits_ = false;
  out_.clear();
  out_sent_ = 0;
  if (ended_) {
    idle_.cancel();
    co_return;
  }
  if (!written) {
    end("connection lost");
    co_return;
  }
  write();
  watch_time();
}

}  // namespace plim::net::h2
