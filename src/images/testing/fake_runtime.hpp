// A fake container runtime on a socket: containerd, or one without a content store.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/event.hpp"
#include "images/messages.hpp"
#include "net/rpc.hpp"

namespace plim::images::testing {

class FakeRuntime {
 public:
  FakeRuntime(Executor loop, std::string socket)
      : loop_(std::move(loop)), socket_(std::move(socket)) {}

  RuntimeVersion version{"containerd", "1.7.28"};
  std::vector<HeldImage> images;
  std::vector<Blob> content;
  std::vector<Ingest> ingests;
  std::map<std::string, std::string> manifests;  // by digest
  std::map<std::string, std::string> infos;      // verbose; "" is the default for all images
  bool has_content = true;
  bool content_is_broken = false;
  std::map<std::string, int> asked;  // by the last part of the method

  void start() {
    server_ = *net::RpcServer::listen(loop_, socket_);
    unary("/runtime.v1.RuntimeService/Version",
          [this](const std::string&) { return encode_version(version); });
    unary("/runtime.v1.ImageService/ListImages",
          [this](const std::string&) { return encode_images(images); });
    unary("/runtime.v1.ImageService/ImageFsInfo", [](const std::string&) {
      return encode_filesystems({{.mountpoint = "/nowhere/at/all", .used = 4096}});
    });
    unary("/runtime.v1.ImageService/ImageStatus",
          [this](const std::string&) { return encode_verbose_info(infos[""]); });
    if (!has_content) return;
    server_->streaming("/containerd.services.events.v1.Events/Subscribe",
                       [this](net::RpcCall& call, const std::string&) {
                         ++asked["Subscribe"];
                         return write_events(&call);
                       });
    unary("/containerd.services.content.v1.Content/ListStatuses",
          [this](const std::string&) { return encode_ingests(ingests); });
    stream("/containerd.services.content.v1.Content/List", [this](const std::string&) {
      return content_is_broken ? "\xff" : encode_content(content);
    });
    stream("/containerd.services.content.v1.Content/Read", [this](const std::string& request) {
      return encode_read_piece(manifests[*decode_read_request(request)]);
    });
  }

  // Reports that the images have changed, as containerd does.
  void report_change() { event_.notify(); }

  Task<void> stop() {
    if (server_) co_await server_->drain(net::RpcClock::duration::zero());
    server_.reset();
  }

 private:
  using Answer = std::function<std::string(const std::string&)>;

  static Task<net::RpcReply> reply(std::string body) {
    net::RpcReply out{.body = std::move(body)};
    co_return out;
  }

  static Task<net::RpcStatus> write(net::RpcCall* call, std::string body) {
    co_await call->write(std::move(body));
    co_return net::RpcStatus();
  }

  Task<net::RpcStatus> write_events(net::RpcCall* call) {
    for (bool open = true; open;) {
      co_await event_.wait();
      open = co_await call->write("");
    }
    co_return net::RpcStatus();
  }

  void unary(std::string method, const Answer& answer) {
    const std::string name = method.substr(method.rfind('/') + 1);
    server_->unary(std::move(method),
                   [this, name, answer](net::RpcCall&, const std::string& request) {
                     ++asked[name];
                     return reply(answer(request));
                   });
  }

  void stream(std::string method, const Answer& answer) {
    const std::string name = method.substr(method.rfind('/') + 1);
    server_->streaming(std::move(method),
                       [this, name, answer](net::RpcCall& call, const std::string& request) {
                         ++asked[name];
                         return write(&call, answer(request));
                       });
  }

  Executor loop_;
  std::string socket_;
  Event event_{loop_};
  std::unique_ptr<net::RpcServer> server_;
};

}  // namespace plim::images::testing
