#include "local/kubelet/nodes/cri_server.hpp"

#include <utility>

#include "local/kubelet/nodes/cri_messages.hpp"
#include "net/rpc.hpp"

namespace plim::local::kubelet {
namespace {

net::RpcReply unreadable(const Error& error) {
  return {.status = {net::RpcCode::invalid_argument, error.message}};
}

Task<net::RpcReply> answer(net::RpcReply reply) {
  co_return reply;
}

class ImageService final : public CriServer {
 public:
  ImageService(Clock& clock, std::string socket, const images::NodeImages& images)
      : clock_(clock), socket_(std::move(socket)), images_(images) {}

  Result<void> listen(const Executor& loop) {
    PLIM_TRY(server_, net::RpcServer::listen(loop, socket_));
    auto unary = [this](std::string method, auto reply) {
      server_->unary(std::move(method),
                     [reply](net::RpcCall&, std::string body) { return answer(reply(body)); });
    };
    unary("/runtime.v1.RuntimeService/Version",
          [](const std::string&) { return net::RpcReply{.body = encode_version()}; });
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
      return net::RpcReply{.body = encode_image_fs(images_.list(), socket_, clock_.wall())};
    });
    unary("/containerd.services.content.v1.Content/ListStatuses", [this](const std::string&) {
      return net::RpcReply{.body = encode_content_statuses(images_.moving(), clock_.wall())};
    });
    server_->streaming("/containerd.services.content.v1.Content/List",
                       [this](net::RpcCall& call, std::string) { return list_content(call); });
    return {};
  }

  Task<void> stop() override { return server_->drain(net::RpcClock::duration::zero()); }

 private:
  Task<net::RpcStatus> list_content(net::RpcCall& call) {
    co_await call.write(encode_content_list(images_.list()));
    co_return net::RpcStatus();
  }

  Clock& clock_;
  std::string socket_;
  const images::NodeImages& images_;
  std::unique_ptr<net::RpcServer> server_;
};

}  // namespace

Result<std::unique_ptr<CriServer>> CriServer::start(Executor loop, Clock& clock, std::string socket,
                                                    const images::NodeImages& images) {
  auto out = std::make_unique<ImageService>(clock, std::move(socket), images);
  PLIM_CHECK(out->listen(loop));
  return out;
}

}  // namespace plim::local::kubelet
