#include "local/apiserver/api/api_server.hpp"

#include <utility>

#include "base/text.hpp"
#include "local/apiserver/api/access.hpp"
#include "local/apiserver/api/built_in_objects.hpp"
#include "local/apiserver/api/core.hpp"
#include "local/apiserver/api/local_client.hpp"
#include "local/apiserver/api/plain.hpp"
#include "local/apiserver/api/request_handlers.hpp"
#include "local/apiserver/api/response_output.hpp"
#include "net/x509.hpp"

namespace plim::local::apiserver {
namespace {

constexpr std::size_t kMaxReaders = 400;
constexpr std::size_t kMaxWriters = 200;

bool is_reading(const net::Request& request) {
  return request.method == "GET" || request.method == "HEAD";
}

ApiError too_many_requests() {
  return {.code = 429,
          .reason = "TooManyRequests",
          .message = "too many requests, please try again later",
          .details = ErrorDetails{.retry_after = 1}};
}

// Counts one request for as long as it lives.
class InFlight {
 public:
  explicit InFlight(std::size_t& count) : count_(count) { ++count_; }

  ~InFlight() { --count_; }

  InFlight(const InFlight&) = delete;
  InFlight& operator=(const InFlight&) = delete;

 private:
  std::size_t& count_;
};

class Server final : public ApiServer, public LocalEntry {
 public:
  Server(Executor loop, Clock& clock, store::Store& store, ApiOptions options)
      : core_(std::move(loop), clock, store),
        tokens_(core_, options.service_account_key_pem, options.issuer),
        authenticator_(options, tokens_),
        plain_(core_),
        handlers_(core_, authenticator_, tokens_, options),
        built_in_objects_(options.built_in_objects) {}

  Task<Result<void>> start() override {
    if (!built_in_objects_) co_return Result<void>();
    BuiltInObjects objects(core_);
    co_return co_await objects.create();
  }

  Task<net::Reply> handle(net::Request request) override {
    auto user = authenticator_.authenticate(request);
    if (!user) co_return response_of(user.error());
    std::size_t& count = is_reading(request) ? readers_ : writers_;
    if (count >= (is_reading(request) ? kMaxReaders : kMaxWriters))
      co_return response_of(too_many_requests());
    const InFlight counted(count);
    net::Reply out = co_await serve(std::move(*user), std::move(request));
    co_return out;
  }

  std::shared_ptr<kube::Client> client(User user) override {
    user.groups.emplace_back("system:authenticated");
    return make_local_client(*this, std::move(user));
  }

  Task<void> stop() override { return handlers_.stop(); }

  Hooks& hooks() override { return core_.hooks; }

  Kinds& kinds() override { return core_.kinds; }

  Task<net::Reply> serve(User user, net::Request request) override {
    auto target = parse_resource_path(core_.kinds, request.path);
    if (!target) co_return response_of(target.error());
    if (!*target) co_return serve_plain(user, request);
    auto call = make_call(std::move(user), std::move(request), std::move(**target));
    if (!call) co_return response_of(call.error());
    const CallPtr asked = std::move(*call);
    auto answer = co_await handlers_.handle(asked);
    if (answer) co_return std::move(*answer);
    net::Response refusal = response_of(answer.error());
    add_warnings(*asked, refusal.headers);
    co_return refusal;
  }

  Task<ApiResult<std::unique_ptr<WatchSession>>> open_watch(User user,
                                                            net::Request request) override {
    PLIM_CO_TRY(std::optional<ResourcePath> target, parse_resource_path(core_.kinds, request.path));
    if (!target) co_return unknown_resource();
    PLIM_CO_TRY(CallPtr call, make_call(std::move(user), std::move(request), std::move(*target)));
    co_return co_await handlers_.open_watch(std::move(call));
  }

  Executor executor() const override { return core_.loop; }

 private:
  net::Reply serve_plain(const User& user, const net::Request& request) {
    const auto allowed = authorize_path(user, to_lower(request.method), request.path);
    if (!allowed) return response_of(allowed.error());
    auto answer = plain_.handle(request);
    return answer ? std::move(*answer) : response_of(answer.error());
  }

  ApiResult<CallPtr> make_call(User user, net::Request request, ResourcePath target) {
    auto out = std::make_shared<Call>(Call{.user = std::move(user),
                                           .method = std::move(request.method),
                                           .target = std::move(target),
                                           .query = Query(request.query),
                                           .raw_query = std::move(request.query),
                                           .headers = std::move(request.headers),
                                           .body = std::move(request.body)});
    const std::string_view verb = verb_of(*out);
    if (verb.empty()) return method_not_allowed();
    PLIM_CHECK(authorize(*out, verb));
    // Responses of nodes are passed on unchanged.
    const bool is_foreign = out->target.subresource == "proxy" || out->target.subresource == "log";
    if (!is_foreign) {
      PLIM_TRY(out->format, negotiate(out->headers.get("Accept")));
    }
    return out;
  }

  Core core_;
  ServiceAccountTokens tokens_;
  Authenticator authenticator_;
  PlainPaths plain_;
  Handlers handlers_;
  bool built_in_objects_;
  std::size_t readers_ = 0;
  std::size_t writers_ = 0;
};

}  // namespace

Result<std::unique_ptr<ApiServer>> ApiServer::create(Executor loop, Clock& clock,
                                                     store::Store& store, ApiOptions options) {
  if (options.service_account_key_pem.empty()) {
    PLIM_TRY(options.service_account_key_pem, net::make_signing_key());
  }
  return std::make_unique<Server>(std::move(loop), clock, store, std::move(options));
}

}  // namespace plim::local::apiserver
