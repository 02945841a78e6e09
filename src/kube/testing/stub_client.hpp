// A client whose calls all fail. Tests override the calls they need.
#pragma once

#include "kube/client.hpp"

namespace plim::testing {

class StubClient : public kube::Client {
 public:
  using Resource = kube::Resource;
  using Path = kube::ObjectPath;
  template <class T>
  using Answer = Task<Result<T>>;

  Answer<json::value> get(Resource, Path) override { return refuse<json::value>(); }

  Answer<std::string> list_page(Resource, kube::ListOptions) override {
    return refuse<std::string>();
  }

  Answer<json::value> list(Resource, kube::ListOptions) override { return refuse<json::value>(); }

  Answer<std::unique_ptr<kube::Watch>> watch(Resource, kube::WatchOptions) override {
    return refuse<std::unique_ptr<kube::Watch>>();
  }

  Answer<json::value> create(Resource, Path, json::value, kube::WriteOptions) override {
    return refuse<json::value>();
  }

  Answer<json::value> update(Resource, Path, json::value, kube::WriteOptions) override {
    return refuse<json::value>();
  }

  Answer<json::value> patch(Resource, Path, kube::PatchType, json::value,
                            kube::WriteOptions) override {
    return refuse<json::value>();
  }

  Answer<json::value> remove(Resource, Path, kube::DeleteOptions) override {
    return refuse<json::value>();
  }

  Answer<json::value> remove_collection(Resource, kube::ListOptions, kube::DeleteOptions) override {
    return refuse<json::value>();
  }

  Answer<net::Response> raw(net::Request, net::CallOptions) override {
    return refuse<net::Response>();
  }

  Answer<std::unique_ptr<net::ResponseStream>> raw_stream(net::Request, net::CallOptions) override {
    return refuse<std::unique_ptr<net::ResponseStream>>();
  }

  const kube::Config& config() const override { return config_; }

 private:
  template <class T>
  Answer<T> refuse() {
    co_return fail(Code::unimplemented, "not part of this test");
  }

  kube::Config config_;
};

}  // namespace plim::testing
