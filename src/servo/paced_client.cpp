#include "servo/paced_client.hpp"

#include <utility>

#include "base/loop.hpp"

namespace plim::servo {
namespace {

constexpr std::size_t kFlood = 64;  // events in one read

class PacedWatch final : public kube::Watch {
 public:
  PacedWatch(Executor loop, std::unique_ptr<kube::Watch> watch, Nanos pace, Clock& clock)
      : loop_(std::move(loop)), watch_(std::move(watch)), pace_(pace), clock_(clock) {}

  Task<Result<std::optional<std::string>>> next() override {
    mark_turn();
    const SteadyTime began = clock_.steady();
    auto line = co_await watch_->next();
    const bool had_to_wait = !*is_same_turn_;
    ++in_one_go_;
    if (!had_to_wait || !line || !*line) co_return line;
    const bool streams = clock_.steady() - began < pace_;
    if (std::exchange(in_one_go_, 0) < kFlood && streams) co_await clock_.sleep(pace_);
    co_return line;
  }

 private:
  // Work posted now runs before any later wait ends. So if it has run, the reader has waited. The
  // elapsed time does not show that: on a busy machine time passes without a wait.
  void mark_turn() {
    if (std::exchange(*is_same_turn_, true)) return;
    post_to(loop_, [flag = is_same_turn_] { *flag = false; });
  }

  Executor loop_;
  std::unique_ptr<kube::Watch> watch_;
  Nanos pace_;
  Clock& clock_;
  std::shared_ptr<bool> is_same_turn_ = std::make_shared<bool>(false);
  std::size_t in_one_go_ = 0;
};

class PacedClient final : public kube::Client {
 public:
  using Resource = kube::Resource;
  using Path = kube::ObjectPath;
  using Write = kube::WriteOptions;
  template <class T>
  using Answer = Task<Result<T>>;

  PacedClient(Executor loop, std::shared_ptr<kube::Client> client, Nanos pace, Clock& clock)
      : loop_(std::move(loop)), client_(std::move(client)), pace_(pace), clock_(clock) {}

  Answer<std::unique_ptr<kube::Watch>> watch(Resource resource,
                                             kube::WatchOptions options) override {
    auto opened = co_await client_->watch(std::move(resource), std::move(options));
    if (!opened) co_return opened;
    co_return std::make_unique<PacedWatch>(loop_, std::move(*opened), pace_, clock_);
  }

  Answer<json::value> get(Resource resource, Path path) override {
    return client_->get(std::move(resource), std::move(path));
  }

  Answer<std::string> list_page(Resource resource, kube::ListOptions options) override {
    return client_->list_page(std::move(resource), std::move(options));
  }

  Answer<json::value> list(Resource resource, kube::ListOptions options) override {
    return client_->list(std::move(resource), std::move(options));
  }

  Answer<json::value> create(Resource resource, Path path, json::value object,
                             Write options) override {
    return client_->create(std::move(resource), std::move(path), std::move(object),
                           std::move(options));
  }

  Answer<json::value> update(Resource resource, Path path, json::value object,
                             Write options) override {
    return client_->update(std::move(resource), std::move(path), std::move(object),
                           std::move(options));
  }

  Answer<json::value> patch(Resource resource, Path path, kube::PatchType type, json::value patch,
                            Write options) override {
    return client_->patch(std::move(resource), std::move(path), type, std::move(patch),
                          std::move(options));
  }

  Answer<json::value> remove(Resource resource, Path path, kube::DeleteOptions options) override {
    return client_->remove(std::move(resource), std::move(path), std::move(options));
  }

  Answer<json::value> remove_collection(Resource resource, kube::ListOptions which,
                                        kube::DeleteOptions options) override {
    return client_->remove_collection(std::move(resource), std::move(which), std::move(options));
  }

  Answer<net::Response> raw(net::Request request, net::CallOptions options) override {
    return client_->raw(std::move(request), options);
  }

  Answer<std::unique_ptr<net::ResponseStream>> raw_stream(net::Request request,
                                                          net::CallOptions options) override {
    return client_->raw_stream(std::move(request), options);
  }

  const kube::Config& config() const override { return client_->config(); }

  kube::ClientStats stats() const override { return client_->stats(); }

 private:
  Executor loop_;
  std::shared_ptr<kube::Client> client_;
  Nanos pace_;
  Clock& clock_;
};

}  // namespace

std::shared_ptr<kube::Client> with_paced_watches(Executor loop,
                                                 std::shared_ptr<kube::Client> client,
                                                 std::chrono::milliseconds pace, Clock& clock) {
  return std::make_shared<PacedClient>(std::move(loop), std::move(client), pace, clock);
}

}  // namespace plim::servo
