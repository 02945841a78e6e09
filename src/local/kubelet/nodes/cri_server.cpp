#include "local/kubelet/nodes/cri_server.hpp"

#include <utility>

#include "local/kubelet/nodes/cri_messages.hpp"
#include "local/kubelet/nodes/cri_pods.hpp"
#include "net/rpc.hpp"

namespace plim::local::kubelet {
namespace {

net::RpcReply unreadable(const Error& error) {
  return {.status = {net::RpcCode::invalid_argument, error.message}};
}

net::RpcReply to_reply(Result<std::string> body) {
  if (body) return {.body = std::move(*body)};
  if (body.error().code == Code::not_found)
    return {.status = {net::RpcCode::not_found, body.error().message}};
  return unreadable(body.error());
}

Task<net::RpcReply> answer(net::RpcReply reply) {
  co_return reply;
}

class RuntimeServer final : public CriServer {
 public:
  RuntimeServer(Clock& clock, CriServerOptions options, const images::NodeImages& images,
                const KubeletPods& pods)
      : clock_(clock), options_(std::move(options)), images_(images), pods_(pods) {}

  Result<void> listen(const Executor& loop) {
    PLIM_TRY(server_, net::RpcServer::listen(loop, options_.socket));
    serve_images();
    serve_content();
    serve_pods();
    return {};
  }

  Task<void> stop() override {
    co_await server_->drain(net::RpcClock::duration::zero());
    server_.reset();  // removes the socket
  }

 private:
  template <class Reply>
  void unary(std::string method, Reply reply) {
    server_->unary(std::move(method),
                   [reply](net::RpcCall&, const std::string& body) { return answer(reply(body)); });
  }

  void serve_images() {
    unary("/runtime.v1.ImageService/ListImages", [this](const std::string& body) {
      auto question = decode_list_images_request(body);
      if (!question) return unreadable(question.error());
      return net::RpcReply{.body = encode_list_images(images_.list(), *question)};
    });
    unary("/runtime.v1.ImageService/ImageStatus", [this](const std::string& body) {
      auto question = decode_image_status_request(body);
      if (!question) return unreadable(question.error());
      return net::RpcReply{.body = encode_image_status(images_.list(), *question)};
    });
    unary("/runtime.v1.ImageService/ImageFsInfo", [this](const std::string&) {
      return net::RpcReply{.body = encode_image_fs(images_.list(), options_.socket, clock_.wall())};
    });
  }

  void serve_content() {
    unary("/containerd.services.content.v1.Content/ListStatuses", [this](const std::string&) {
      return net::RpcReply{.body = encode_content_statuses(images_.moving(), clock_.wall())};
    });
    server_->streaming(
        "/containerd.services.content.v1.Content/List",
        [this](net::RpcCall& call, const std::string&) { return list_content(call); });
    server_->streaming(
        "/containerd.services.events.v1.Events/Subscribe",
        [this](net::RpcCall& call, const std::string&) { return report_changes(call); });
  }

  void serve_pods() {
    unary("/runtime.v1.RuntimeService/Version", [this](const std::string&) {
      return net::RpcReply{.body = encode_version(options_.version)};
    });
    unary("/runtime.v1.RuntimeService/Status", [this](const std::string& body) {
      return to_reply(runtime_status(options_.version, body));
    });
    using Answer = Result<std::string> (*)(const CriFacts&, const std::string&);
    const auto of_pods = [this](std::string method, Answer reply) {
      unary(std::move(method),
            [this, reply](const std::string& body) { return to_reply(reply(facts(), body)); });
    };
    of_pods("/runtime.v1.RuntimeService/ListPodSandbox", list_sandboxes);
    of_pods("/runtime.v1.RuntimeService/ListContainers", list_containers);
    of_pods("/runtime.v1.RuntimeService/PodSandboxStatus", sandbox_status);
    of_pods("/runtime.v1.RuntimeService/ContainerStatus", container_status);
  }

  CriFacts facts() const {
    return {.pods = pods_.pods(), .runs = pods_.runs(), .images = images_.list()};
  }

  Task<net::RpcStatus> list_content(net::RpcCall& call) {
    co_await call.write(encode_content_list(images_.list()));
    co_return net::RpcStatus();
  }

  // Until the caller is gone. The first event may be about an earlier change.
  Task<net::RpcStatus> report_changes(net::RpcCall& call) {
    std::uint64_t seen = 0;
    for (bool open = true; open;) {
      seen = co_await images_.changed_since(seen);
      open = co_await call.write(encode_image_event(clock_.wall()));
    }
    co_return net::RpcStatus();
  }

  Clock& clock_;
  CriServerOptions options_;
  const images::NodeImages& images_;
  const KubeletPods& pods_;
  std::unique_ptr<net::RpcServer> server_;
};

}  // namespace

Result<std::unique_ptr<CriServer>> CriServer::start(Executor loop, Clock& clock,
                                                    CriServerOptions options,
                                                    const images::NodeImages& images,
                                                    const KubeletPods& pods) {
  auto out = std::make_unique<RuntimeServer>(clock, std::move(options), images, pods);
  PLIM_CHECK(out->listen(loop));
  return out;
}

}  // namespace plim::local::kubelet
