#include "pools/kubelet_records.hpp"

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/loop.hpp"
#include "base/testing/temp_dir.hpp"
#include "net/rpc.hpp"
#include "pools/static_manager.hpp"

namespace plim::pools {
namespace {

Task<net::RpcReply> reply_with(std::string body) {
  co_return net::RpcReply{.body = std::move(body)};
}

class CpuManagerPolicy : public ::testing::Test {
 protected:
  // `allocatable` is the answer to GetAllocatableResources.
  void serve(std::string allocatable) {
    ASSERT_TRUE(make_directories(dir_.path() + "/pod-resources"));
    auto made =
        net::RpcServer::listen(loop_.executor(), dir_.path() + "/pod-resources/kubelet.sock");
    ASSERT_TRUE(made) << made.error().message;
    server_ = std::move(*made);
    server_->unary("/v1.PodResourcesLister/GetAllocatableResources",
                   [allocatable](net::RpcCall&, std::string) { return reply_with(allocatable); });
  }

  ~CpuManagerPolicy() override {
    if (server_) run_to_end(loop_, server_->drain(std::chrono::seconds(0)));
  }

  std::string policy() { return run_to_end(loop_, ask_cpu_manager_policy(dir_.path())); }

  Loop loop_;
  plim::testing::TempDir dir_;
  std::unique_ptr<net::RpcServer> server_;
};

TEST_F(CpuManagerPolicy, is_unknown_without_a_kubelet) {
  EXPECT_EQ(policy(), "");
}

TEST_F(CpuManagerPolicy, is_none_when_the_kubelet_reports_no_cpus) {
  serve("");
  EXPECT_EQ(policy(), "none");
}

TEST_F(CpuManagerPolicy, is_static_when_the_kubelet_reports_cpus) {
  serve(std::string("\x12\x02\x00\x01", 4));  // cpu_ids: [0, 1]
  EXPECT_EQ(policy(), "static");
}

TEST_F(CpuManagerPolicy, comes_from_the_kubelets_file_if_it_is_visible) {
  serve("");
  ASSERT_TRUE(write_file(dir_.path() + "/cpu_manager_state", R"({"policyName":"static"})"));
  EXPECT_EQ(policy(), "static");
}

}  // namespace
}  // namespace plim::pools
