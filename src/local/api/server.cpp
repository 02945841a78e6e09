#include "local/api/server.hpp"

#include <utility>

#include "local/api/built_in_objects.hpp"
#include "local/api/core.hpp"
#include "local/api/handlers.hpp"
#include "local/api/local_client.hpp"

namespace plim::local {
namespace {

net::Reply page_not_found() {
  net::Response out{.status = 404, .body = "404 page not found\n"};
  out.headers.set("Content-Type", "text/plain; charset=utf-8");
  return out;
}

class Server final : public ApiServer, public LocalEntry {
 public:
  Server(Executor loop, Clock& clock, Store& store, ApiOptions options)
      : options_(std::move(options)), core_(std::move(loop), clock, store), handlers_(core_) {}

  Task<Result<void>> start() override {
    if (!options_.built_in_objects) co_return Result<void>();
    BuiltInObjects objects(core_);
    co_return co_await objects.create();
  }

  Task<net::Reply> handle(net::Request request) override {
    User user{.name = request.peer.certificate_user, .groups = request.peer.certificate_groups};
    return serve(std::move(user), std::move(request));
  }

  std::shared_ptr<kube::Client> client(User user) override {
    return make_local_client(*this, std::move(user));
  }

  Task<void> stop() override { return handlers_.stop(); }

  Hooks& hooks() override { return core_.hooks; }

  Kinds& kinds() override { return core_.kinds; }

  Task<net::Reply> serve(User user, net::Request request) override {
    auto call = make_call(std::move(user), std::move(request));
    if (!call) co_return response_of(call.error());
    if (!*call) co_return page_not_found();
    auto answer = co_await handlers_.handle(std::move(*call));
    if (!answer) co_return response_of(answer.error());
    co_return std::move(*answer);
  }

  Task<ApiResult<std::unique_ptr<WatchSession>>> open_watch(User user,
                                                            net::Request request) override {
    PLIM_CO_TRY(CallPtr call, make_call(std::move(user), std::move(request)));
    if (!call) co_return unknown_resource();
    co_return co_await handlers_.open_watch(std::move(call));
  }

  Executor executor() const override { return core_.loop; }

 private:
  // Null: the path is about no resource.
  ApiResult<CallPtr> make_call(User user, net::Request request) {
    PLIM_TRY(std::optional<ResourcePath> target, parse_resource_path(core_.kinds, request.path));
    if (!target) return CallPtr();
    return std::make_shared<Call>(Call{.user = std::move(user),
                                       .method = std::move(request.method),
                                       .target = std::move(*target),
                                       .query = Query(request.query),
                                       .headers = std::move(request.headers),
                                       .body = std::move(request.body)});
  }

  ApiOptions options_;
  Core core_;
  Handlers handlers_;
};

}  // namespace

Result<std::unique_ptr<ApiServer>> ApiServer::create(Executor loop, Clock& clock, Store& store,
                                                     ApiOptions options) {
  return std::make_unique<Server>(std::move(loop), clock, store, std::move(options));
}

}  // namespace plim::local
