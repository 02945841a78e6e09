#include "kube/client.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/log.hpp"
#include "kube/credentials.hpp"
#include "kube/line_splitter.hpp"
#include "kube/paths.hpp"
#include "kube/rate_limiter.hpp"
#include "kube/requests.hpp"
#include "kube/status.hpp"
#include "kube/warnings.hpp"

namespace plim::kube {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kPageSize = 500;  // kubectl's
constexpr int kMaxRetries = 10;          // client-go's
// If a server asks for a longer wait than this, its error is returned instead.
constexpr auto kMaxRetryAfter = 60s;
constexpr auto kVerbTimeout = 60s;
// Objects have at most 1.5 MiB in etcd; a watch event with an escaped object is far smaller.
constexpr std::size_t kMaxEvent = 32u << 20;
constexpr std::size_t kMaxErrorBody = 1u << 20;
// Idle connections to keep: as many as a client has requests in flight. To open a new one costs
// both sides a handshake, which is more than the request itself.
constexpr std::size_t kMaxIdle = 64;
constexpr auto kWorthLogging = 1s;  // log longer waits for the rate limit

// Decides after each answer whether to retry the request.
class Tries {
 public:
  // How long to wait before the retry; nullopt: no retry, use the answer.
  std::optional<Nanos> next(int status, const net::Headers& headers, std::uint64_t generation,
                            Credentials& credentials) {
    if (status == 401 && !renewed_) {
      renewed_ = true;
      if (credentials.rejected(generation)) return Nanos(0);
    }
    if (status != 429 && status < 500) return std::nullopt;
    const auto delay = retry_after(headers);
    if (!delay || *delay > kMaxRetryAfter || retries_ == kMaxRetries) return std::nullopt;
    ++retries_;
    return *delay;
  }

 private:
  int retries_ = 0;
  bool renewed_ = false;
};

class LineWatch final : public Watch {
 public:
  explicit LineWatch(std::unique_ptr<net::ResponseStream> stream) : stream_(std::move(stream)) {}

  Task<Result<std::optional<std::string>>> next() override {
    for (;;) {
      PLIM_CO_TRY(std::optional<std::string> line, lines_.next());
      if (line) co_return line;
      PLIM_CO_TRY(std::optional<std::string> piece, co_await stream_->next());
      if (!piece) co_return std::optional<std::string>();
      lines_.add(*piece);
    }
  }

 private:
  std::unique_ptr<net::ResponseStream> stream_;
  LineSplitter lines_{kMaxEvent};
};

class ApiClient final : public Client {
 public:
  ApiClient(const Executor& loop, std::shared_ptr<net::Client> http, Config config, Clock& clock)
      : config_(std::move(config)),
        clock_(clock),
        http_(std::move(http)),
        credentials_(make_credentials(loop, config_, clock)),
        limiter_(clock, config_.qps, config_.burst) {}

  Task<Result<json::value>> get(Resource resource, ObjectPath path) override {
    return call(get_request(resource, path));
  }

  Task<Result<std::string>> list_page(Resource resource, ListOptions options) override {
    return bytes(list_request(resource, options));
  }

  Task<Result<json::value>> list(Resource resource, ListOptions options) override;
  Task<Result<std::unique_ptr<Watch>>> watch(Resource resource, WatchOptions options) override;

  Task<Result<json::value>> create(Resource resource, ObjectPath path, json::value object,
                                   WriteOptions options) override {
    return call(create_request(resource, std::move(path), object, options));
  }

  Task<Result<json::value>> update(Resource resource, ObjectPath path, json::value object,
                                   WriteOptions options) override {
    return call(update_request(resource, path, object, options));
  }

  Task<Result<json::value>> patch(Resource resource, ObjectPath path, PatchType type,
                                  json::value patch, WriteOptions options) override {
    return call(patch_request(resource, path, type, patch, options));
  }

  Task<Result<json::value>> remove(Resource resource, ObjectPath path,
                                   DeleteOptions options) override {
    return call(delete_request(resource, path, options));
  }

  Task<Result<json::value>> remove_collection(Resource resource, ListOptions which,
                                              DeleteOptions options) override {
    return call(delete_collection_request(resource, which, options));
  }

  Task<Result<net::Response>> raw(net::Request request, net::CallOptions options) override;
  Task<std::vector<Result<net::Response>>> raw_pipelined(std::vector<net::Request> requests,
                                                         net::CallOptions options) override;
  Task<Result<std::unique_ptr<net::ResponseStream>>> raw_stream(net::Request request,
                                                                net::CallOptions options) override;

  const Config& config() const override { return config_; }

  ClientStats stats() const override {
    return {.requests = requests_,
            .retries = retries_,
            .throttled = limiter_.delayed(),
            .throttled_for = limiter_.waited()};
  }

 private:
  // The body of a successful answer; anything else is an error.
  Task<Result<std::string>> bytes(net::Request request);
  // The same, parsed. Takes a Result so that a request that could not be built returns its error.
  Task<Result<json::value>> call(Result<net::Request> request);
  Task<void> wait_for_turn();
  Result<net::Request> signed_with(const Identity& identity, net::Request request);
  void note_warnings(const net::Headers& headers);

  Config config_;
  Clock& clock_;
  std::shared_ptr<net::Client> http_;
  std::unique_ptr<Credentials> credentials_;
  RateLimiter limiter_;
  Warnings warnings_;
  log::Throttle throttle_log_;
  std::uint64_t tls_generation_ = 0;  // generation of the plugin's certificate in http_
  std::uint64_t requests_ = 0;
  std::uint64_t retries_ = 0;
};

Task<void> ApiClient::wait_for_turn() {
  const Nanos waited = co_await limiter_.acquire();
  if (waited < kWorthLogging) co_return;
  const auto seconds = std::chrono::duration<double>(waited).count();
  throttle_log_.write(log::Level::info, "kube", "request delayed by the client's own rate limit",
                      {{"waited", fmt::format("{:.1f}s", seconds)}});
}

Result<net::Request> ApiClient::signed_with(const Identity& identity, net::Request request) {
  if (!identity.certificate_pem.empty() && identity.generation != tls_generation_) {
    net::ClientTls tls = config_.tls;
    tls.certificate_pem = identity.certificate_pem;
    tls.key_pem = identity.key_pem;
    PLIM_CHECK(http_->set_tls(std::move(tls)));
    http_->close_idle();
    tls_generation_ = identity.generation;
  }
  if (!identity.authorization.empty()) request.headers.set("Authorization", identity.authorization);
  if (!config_.impersonate_user.empty()) {
    request.headers.set("Impersonate-User", config_.impersonate_user);
    if (!config_.impersonate_uid.empty())
      request.headers.set("Impersonate-Uid", config_.impersonate_uid);
    for (const std::string& group : config_.impersonate_groups)
      request.headers.add("Impersonate-Group", group);
    for (const auto& [key, value] : config_.impersonate_extra)
      request.headers.add("Impersonate-Extra-" + net::percent_encode(key), value);
  }
  return request;
}

void ApiClient::note_warnings(const net::Headers& headers) {
  for (const std::string& text : warnings_.unseen(headers))
    log::warn("kube", text, {{"server", config_.server}});
}

Task<Result<net::Response>> ApiClient::raw(net::Request request, net::CallOptions options) {
  co_await wait_for_turn();
  for (Tries tries;;) {
    PLIM_CO_TRY(Identity identity, co_await credentials_->current());
    PLIM_CO_TRY(net::Request signed_request, signed_with(identity, request));
    ++requests_;
    PLIM_CO_TRY(net::Response answer, co_await http_->send(std::move(signed_request), options));
    note_warnings(answer.headers);
    const auto delay =
        tries.next(answer.status, answer.headers, identity.generation, *credentials_);
    if (!delay) co_return answer;
    ++retries_;
    co_await clock_.sleep(*delay);
  }
}

Task<std::vector<Result<net::Response>>> ApiClient::raw_pipelined(
    std::vector<net::Request> requests, net::CallOptions options) {
  for (std::size_t i = 0; i < requests.size(); ++i) co_await wait_for_turn();
  std::vector<Result<net::Response>> answers;
  Result<Identity> identity = co_await credentials_->current();
  for (net::Request& request : requests) {
    Result<net::Request> signed_request =
        identity ? signed_with(*identity, std::move(request)) : identity.error();
    if (!signed_request) {
      answers.assign(requests.size(), signed_request.error());
      co_return answers;
    }
    request = *std::move(signed_request);
  }
  requests_ += requests.size();
  answers = co_await http_->send_pipelined(std::move(requests), options);
  for (const auto& answer : answers)
    if (answer) note_warnings(answer->headers);
  co_return answers;
}

Task<Result<std::unique_ptr<net::ResponseStream>>> ApiClient::raw_stream(net::Request request,
                                                                         net::CallOptions options) {
  for (Tries tries;;) {
    PLIM_CO_TRY(Identity identity, co_await credentials_->current());
    PLIM_CO_TRY(net::Request signed_request, signed_with(identity, request));
    ++requests_;
    PLIM_CO_TRY(std::unique_ptr<net::ResponseStream> answer,
                co_await http_->open(std::move(signed_request), options));
    note_warnings(answer->headers());
    const auto delay =
        tries.next(answer->status(), answer->headers(), identity.generation, *credentials_);
    if (!delay) co_return std::move(answer);
    answer.reset();  // release the connection before the wait
    ++retries_;
    co_await clock_.sleep(*delay);
  }
}

Task<Result<std::string>> ApiClient::bytes(net::Request request) {
  net::CallOptions options;
  options.timeout = kVerbTimeout;
  PLIM_CO_TRY(net::Response answer, co_await raw(std::move(request), options));
  if (answer.status < 200 || answer.status > 299)
    co_return error_from_answer(answer.status, answer.headers, answer.body);
  co_return std::move(answer.body);
}

Task<Result<json::value>> ApiClient::call(Result<net::Request> request) {
  if (!request) co_return std::move(request).error();
  const std::string what = fmt::format("answer to {} {}", request->method, request->path);
  PLIM_CO_TRY(std::string body, co_await bytes(std::move(*request)));
  co_return parse_json(body, what);
}

Task<Result<json::value>> ApiClient::list(Resource resource, ListOptions options) {
  if (options.limit == 0) options.limit = kPageSize;
  json::value all;
  for (ListOptions page = options;;) {
    auto request = list_request(resource, page);
    auto answer = co_await call(std::move(request));
    const bool expired =
        !answer && (answer.error().code == Code::expired || answer.error().code == Code::gone);
    if (expired && !page.continue_token.empty()) {
      // Start again without pages, as client-go does: then the token cannot expire again.
      all = nullptr;
      page = options;
      page.limit = 0;
      page.continue_token.clear();
      continue;
    }
    if (!answer) co_return std::move(answer).error();
    if (!answer->is_object())
      co_return fail(Code::internal,
                     fmt::format("list of {}: expected an object", resource.plural));

    std::string token(text_at(*answer, "ObjectList.metadata.continue"));
    json::value& items = answer->get_object()["items"];  // null for none
    if (!items.is_array()) items = json::array();
    if (all.is_null()) {
      all = std::move(*answer);
    } else {
      auto& joined = all.get_object()["items"].get_array();
      joined.insert(joined.end(), std::make_move_iterator(items.get_array().begin()),
                    std::make_move_iterator(items.get_array().end()));
    }
    if (token.empty()) break;
    page.continue_token = std::move(token);
    page.resource_version.clear();  // the token contains it; servers reject both together
    page.resource_version_match.clear();
  }
  json::object& metadata = make_object(all, "ObjectList.metadata");
  metadata.erase("continue");
  metadata.erase("remainingItemCount");
  co_return all;
}

Task<Result<std::string>> read_error_body(net::ResponseStream& stream) {
  std::string body;
  while (body.size() < kMaxErrorBody) {
    PLIM_CO_TRY(std::optional<std::string> piece, co_await stream.next());
    if (!piece) break;
    body += *piece;
  }
  co_return body;
}

Task<Result<std::unique_ptr<Watch>>> ApiClient::watch(Resource resource, WatchOptions options) {
  auto request = watch_request(resource, options);
  net::CallOptions call_options;
  call_options.timeout = kVerbTimeout;
  call_options.read_timeout = options.silence;
  PLIM_CO_TRY(std::unique_ptr<net::ResponseStream> stream,
              co_await raw_stream(std::move(request), call_options));
  if (stream->status() == 200) co_return std::make_unique<LineWatch>(std::move(stream));
  const auto body = co_await read_error_body(*stream);
  co_return error_from_answer(stream->status(), stream->headers(), body.value_or(""));
}

}  // namespace

Task<std::vector<Result<net::Response>>> Client::raw_pipelined(std::vector<net::Request> requests,
                                                               net::CallOptions options) {
  std::vector<Result<net::Response>> answers;
  for (net::Request& request : requests)
    answers.push_back(co_await raw(std::move(request), options));
  co_return answers;
}

Result<std::shared_ptr<Client>> Client::create(const Executor& loop, Config config, Clock& clock) {
  net::ClientOptions options;
  options.tls = config.tls;
  options.proxy = config.proxy.empty() ? net::proxy_from_environment(config.server) : config.proxy;
  options.user_agent = "plimsoll/" PLIM_VERSION;
  options.max_idle = kMaxIdle;
  PLIM_TRY(auto http, net::Client::create(loop, config.server, std::move(options)));
  return std::make_shared<ApiClient>(loop, std::move(http), std::move(config), clock);
}

}  // namespace plim::kube
