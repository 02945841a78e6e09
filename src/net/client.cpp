#include "net/client.hpp"

#include <fmt/format.h>

#include "net/connect.hpp"
#include "net/exchange.hpp"
#include "net/request_head.hpp"

namespace plim::net {
namespace {

constexpr std::size_t kOneWriteUpTo = 64 << 10;  // head and body in one write
constexpr std::size_t kExpectFrom = 1 << 20;     // ask with Expect before sending this much
constexpr Millis kExpectPatience{1000};          // for servers that ignore Expect
constexpr Millis kGatherPatience{50};            // for short responses to pipelined requests

bool is_safe_to_repeat(const std::string& method) {
  return method == "GET" || method == "HEAD" || method == "OPTIONS";
}

class Upload final : public RequestBody {
 public:
  Upload(std::unique_ptr<Exchange> exchange, Clock& clock, Millis step_limit)
      : exchange_(std::move(exchange)), clock_(clock), step_limit_(step_limit) {}

  Task<Result<void>> write(std::string piece) override {
    if (piece.empty()) co_return Result<void>();
    std::string chunk = fmt::format("{:x}\r\n", piece.size());
    chunk += piece;
    chunk += "\r\n";
    exchange_->limit(clock_.steady() + step_limit_);
    PLIM_CO_CHECK(co_await exchange_->write(chunk));
    co_return Result<void>();
  }

  Task<Result<Response>> finish() override {
    exchange_->limit(clock_.steady() + step_limit_);
    // A server that rejects a request early closes its side; its response may still arrive.
    Result<void> ended = co_await exchange_->write("0\r\n\r\n");
    Result<void> answered = co_await exchange_->read_head();
    if (!answered) {
      if (!ended) co_return ended.error();
      co_return answered.error();
    }
    PLIM_CO_TRY(Response response, co_await exchange_->read_all());
    co_return response;
  }

 private:
  std::unique_ptr<Exchange> exchange_;
  Clock& clock_;
  Millis step_limit_;
};

class PooledClient final : public Client, public std::enable_shared_from_this<PooledClient> {
 public:
  PooledClient(Executor loop, std::string base, Destination destination, ClientOptions options,
               Clock& clock)
      : base_(std::move(base)),
        destination_(std::move(destination)),
        options_(std::move(options)),
        watchdog_(std::make_shared<Watchdog>(std::move(loop), clock)),
        idle_alarm_(watchdog_, [this] { drop_old(); }) {}

  ~PooledClient() override { close_idle(); }

  Task<Result<Response>> send(Request request, CallOptions options) override {
    auto self = shared_from_this();
    options.read_timeout = Millis{0};  // the limit of the whole call covers it
    PLIM_CO_TRY(auto exchange, co_await call(std::move(request), options, options.max_body));
    PLIM_CO_TRY(Response response, co_await exchange->read_all());
    co_return response;
  }

  Task<std::vector<Result<Response>>> send_pipelined(std::vector<Request> requests,
                                                     CallOptions options) override {
    auto self = shared_from_this();
    options.read_timeout = Millis{0};
    std::vector<Result<Response>> out;
    out.reserve(requests.size());
    Result<void> done = co_await pipeline(requests, options, out);
    if (!done) out.resize(requests.size(), done.error());
    co_return out;
  }

  Task<Result<std::unique_ptr<ResponseStream>>> open(Request request,
                                                     CallOptions options) override {
    auto self = shared_from_this();
    PLIM_CO_TRY(auto exchange, co_await call(std::move(request), options, kNoLimit));
    exchange->unlimit();
    co_return std::unique_ptr<ResponseStream>(std::move(exchange));
  }

  Task<Result<std::unique_ptr<RequestBody>>> upload(Request request, CallOptions options) override {
    auto self = shared_from_this();
    PLIM_CO_TRY(std::string head, format_head(request, BodyLength::chunked));
    SteadyTime until = watchdog_->now() + options.timeout;
    PLIM_CO_TRY(auto link, co_await connect(until));
    auto exchange = start(std::move(link), request, options, options.max_body);
    exchange->limit(until);
    PLIM_CO_CHECK(co_await exchange->write(head));
    co_return std::make_unique<Upload>(std::move(exchange), watchdog_->clock(), options.timeout);
  }

  Task<Result<std::unique_ptr<RawStream>>> upgrade(Request request, CallOptions options) override {
    auto self = shared_from_this();
    PLIM_CO_TRY(std::string head, format_head(request, BodyLength::known));
    SteadyTime until = watchdog_->now() + options.timeout;
    PLIM_CO_TRY(auto link, co_await connect(until));
    auto exchange = start(std::move(link), request, options, options.max_body);
    exchange->limit(until);
    head += request.body;
    PLIM_CO_CHECK(co_await exchange->write(head));
    PLIM_CO_CHECK(co_await exchange->read_head());
    int status = exchange->status();
    if (status != 101) {
      PLIM_CO_TRY(Response refusal, co_await exchange->read_all());
      co_return fail(
          code_from_http(status),
          fmt::format("upgrade of {} refused: {} {}", request.path, status, status_text(status)));
    }
    auto upgraded = exchange->release_link();
    co_return make_raw_stream(std::move(upgraded->stream), std::move(upgraded->received));
  }

  Result<void> set_tls(ClientTls tls) override {
    if (destination_.origin.scheme != Url::Scheme::https) return {};
    PLIM_TRY(destination_.tls, TlsContext::for_client(tls));
    close_idle();
    return {};
  }

  void close_idle() override {
    for (Idle& entry : idle_) entry.link->stream->close();
    idle_.clear();
  }

  const std::string& base() const override { return base_; }

 private:
  struct Idle {
    std::unique_ptr<Link> link;
    SteadyTime since;
  };

  // Sends the request and reads the head of the response.
  Task<Result<std::unique_ptr<Exchange>>> call(Request request, CallOptions options,
                                               std::size_t max_body) {
    PLIM_CO_TRY(std::string head, format_head(request, BodyLength::known));
    const bool in_one_write = request.body.size() <= kOneWriteUpTo;
    if (in_one_write) head += request.body;
    const std::string_view apart = in_one_write ? std::string_view() : request.body;
    SteadyTime until = watchdog_->now() + options.timeout;
    for (auto link = take_idle();; link.reset()) {
      if (!link) {
        PLIM_CO_TRY(link, co_await connect(until));
      }
      bool reused = link->reused;
      auto exchange = start(std::move(link), request, options, max_body);
      exchange->limit(until);
      Result<void> done = co_await converse(*exchange, head, apart);
      if (done) co_return exchange;
      bool closed_on_us = done.error().code == Code::unavailable && !exchange->answered();
      bool repeatable = is_safe_to_repeat(request.method) || !exchange->wrote();
      if (!reused || !closed_on_us || !repeatable)
        co_return done.error().with_context(
            fmt::format("{} {}{}", request.method, base_, request.path));
    }
  }

  // Appends a response for each request, up to the first failure of the connection.
  Task<Result<void>> pipeline(const std::vector<Request>& requests, const CallOptions& options,
                              std::vector<Result<Response>>& responses) {
    std::string bytes;
    for (const Request& request : requests) {
      PLIM_CO_TRY(std::string head, format_head(request, BodyLength::known));
      bytes += head;
      bytes += request.body;
    }
    const SteadyTime until = watchdog_->now() + options.timeout;
    auto link = take_idle();
    if (!link) {
      PLIM_CO_TRY(link, co_await connect(until));
    }
    std::unique_ptr<Exchange> exchange;
    for (const Request& request : requests) {
      if (exchange) {
        PLIM_CO_TRY(link, exchange->release_link_for_more());
      }
      exchange = start(std::move(link), request, options, options.max_body);
      exchange->limit(until);
      if (responses.empty()) {
        PLIM_CO_CHECK(co_await exchange->write(bytes));
        // Responses to writes repeat the object, so they are about as long as the requests.
        PLIM_CO_CHECK(co_await exchange->gather(bytes.size(), kGatherPatience));
        exchange->limit(until);
      }
      PLIM_CO_CHECK(co_await exchange->read_head());
      PLIM_CO_TRY(Response response, co_await exchange->read_all());
      responses.push_back(std::move(response));
    }
    co_return Result<void>();
  }

  // The caller keeps the bytes alive. `body`: what is not in the first write.
  Task<Result<void>> converse(Exchange& exchange, std::string_view first, std::string_view body) {
    bool ask_first = body.size() >= kExpectFrom;
    Result<void> written = co_await exchange.write(first);
    if (written && ask_first) {
      PLIM_CO_TRY(bool wanted, co_await exchange.body_wanted(kExpectPatience));
      if (!wanted) body = {};
    }
    if (written && !body.empty()) written = co_await exchange.write(body);
    if (!written && written.error().code != Code::unavailable) co_return written;
    // A server may reject and close before it has read everything. Its response or TLS alert is
    // more useful than the error of the write.
    Result<void> answered = co_await exchange.read_head();
    co_return answered;
  }

  Result<std::string> format_head(const Request& request, BodyLength length) const {
    RequestContext context{.origin = destination_.origin,
                           .proxy = destination_.proxy,
                           .user_agent = options_.user_agent,
                           .expect_continue = request.body.size() >= kExpectFrom};
    return format_request_head(request, context, length);
  }

  std::unique_ptr<Exchange> start(std::unique_ptr<Link> link, const Request& request,
                                  const CallOptions& options, std::size_t max_body) {
    Exchange::Settings settings{.max_header = options_.max_header,
                                .max_body = max_body,
                                .read_timeout = options.read_timeout,
                                .to_head = request.method == "HEAD",
                                .unzip = !request.headers.has("Accept-Encoding"),
                                .recycle = [weak = weak_from_this()](std::unique_ptr<Link> done) {
                                  if (auto self = weak.lock())
                                    return self->put_idle(std::move(done));
                                  done->stream->close();
                                }};
    return std::make_unique<Exchange>(std::move(link), watchdog_, std::move(settings));
  }

  Task<Result<std::unique_ptr<Link>>> connect(SteadyTime until) {
    auto left = std::chrono::duration_cast<Millis>(until - watchdog_->now());
    Millis limit = std::min(left, options_.connect_timeout);
    PLIM_CO_TRY(auto stream, co_await open_connection(watchdog_, destination_, limit));
    auto link = std::make_unique<Link>();
    link->stream = std::move(stream);
    co_return link;
  }

  std::unique_ptr<Link> take_idle() {
    while (!idle_.empty()) {
      auto link = std::move(idle_.back().link);
      idle_.pop_back();
      // A server sends nothing on an idle connection: bytes or an end mean that it gave it up.
      if (link->stream->is_quiet()) return link;
      link->stream->close();
    }
    return nullptr;
  }

  void put_idle(std::unique_ptr<Link> link) {
    if (idle_.size() >= options_.max_idle) {
      link->stream->close();
      return;
    }
    link->reused = true;
    idle_.push_back({std::move(link), watchdog_->now()});
    if (idle_.size() == 1) idle_alarm_.arm(options_.idle_timeout);
  }

  void drop_old() {
    auto oldest_kept = watchdog_->now() - options_.idle_timeout;
    std::erase_if(idle_, [&](const Idle& entry) { return entry.since <= oldest_kept; });
    if (!idle_.empty()) idle_alarm_.arm_at(idle_.front().since + options_.idle_timeout);
  }

  std::string base_;
  Destination destination_;
  ClientOptions options_;
  std::shared_ptr<Watchdog> watchdog_;
  Alarm idle_alarm_;
  std::vector<Idle> idle_;  // longest idle first
};

}  // namespace

Result<std::shared_ptr<Client>> Client::create(Executor loop, std::string base,
                                               ClientOptions options, Clock& clock) {
  Destination destination;
  PLIM_TRY(destination.origin, parse_url(base));
  if (!options.proxy.empty() && destination.origin.scheme != Url::Scheme::unix_socket) {
    PLIM_TRY(destination.proxy, parse_url(options.proxy));
    if (destination.proxy->scheme != Url::Scheme::http)
      return fail(Code::unimplemented, fmt::format("proxy {}: only http:// proxies are supported",
                                                   without_credentials(options.proxy)));
  }
  if (destination.origin.scheme == Url::Scheme::https) {
    PLIM_TRY(destination.tls, TlsContext::for_client(options.tls));
  }
  return std::shared_ptr<Client>(std::make_shared<PooledClient>(
      std::move(loop), std::move(base), std::move(destination), std::move(options), clock));
}

}  // namespace plim::net
