#include "local/cluster/keys.hpp"

#include <filesystem>
#include <sys/stat.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/testing/temp_dir.hpp"

namespace plim::local::cluster {
namespace {

using plim::testing::TempDir;
using std::chrono::days;
using ::testing::Contains;
using ::testing::ElementsAre;

const WallTime kNow{std::chrono::seconds(1'800'000'000)};

net::CertificateInfo info_of(const net::KeyPair& pair) {
  auto info = net::read_certificate(pair.certificate_pem);
  PLIM_ASSERT(info);
  return *info;
}

TEST(ClusterKeys, are_signed_by_their_authority_and_kept) {
  TempDir temp;
  auto first = keep_keys(temp.path(), {}, kNow);
  ASSERT_TRUE(first);
  for (const net::KeyPair& pair :
       {first->server, first->admin, first->scheduler, first->scheduler_server}) {
    auto verified = net::verify_certificate(pair.certificate_pem, pair.key_pem,
                                            first->authority.certificate_pem, kNow);
    EXPECT_TRUE(verified) << info_of(pair).common_name;
  }
  EXPECT_THAT(info_of(first->admin).organizations, ElementsAre("system:masters"));
  EXPECT_THAT(info_of(first->server).dns_names, Contains("kubernetes.default.svc"));
  EXPECT_THAT(info_of(first->server).ip_addresses, Contains("127.0.0.1"));
  EXPECT_EQ(first->admin_token.size(), 64u);
  auto second = keep_keys(temp.path(), {}, kNow + days(300));
  ASSERT_TRUE(second);
  EXPECT_EQ(second->server.certificate_pem, first->server.certificate_pem);
  EXPECT_EQ(second->admin.key_pem, first->admin.key_pem);
  EXPECT_EQ(second->token_key, first->token_key);
  EXPECT_EQ(second->admin_token, first->admin_token);
}

TEST(ClusterKeys, are_readable_by_nobody_else) {
  TempDir temp;
  ASSERT_TRUE(keep_keys(temp / "pki", {}, kNow));
  struct stat info{};
  ASSERT_EQ(::stat((temp / "pki").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  std::size_t files = 0;
  for (const auto& file : std::filesystem::directory_iterator(temp / "pki")) {
    ASSERT_EQ(::stat(file.path().c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600u) << file.path();
    ++files;
  }
  EXPECT_EQ(files, 12u);
}

TEST(ClusterKeys, are_renewed_in_their_last_month) {
  TempDir temp;
  auto first = keep_keys(temp.path(), {}, kNow);
  ASSERT_TRUE(first);
  auto second = keep_keys(temp.path(), {}, kNow + days(340));
  ASSERT_TRUE(second);
  EXPECT_EQ(second->authority.certificate_pem, first->authority.certificate_pem);
  EXPECT_NE(second->server.certificate_pem, first->server.certificate_pem);
  EXPECT_NE(second->admin.certificate_pem, first->admin.certificate_pem);
  EXPECT_EQ(info_of(second->server).not_after, kNow + days(340 + 365));
}

TEST(ClusterKeys, of_the_server_follow_the_names_asked_for) {
  TempDir temp;
  auto first = keep_keys(temp.path(), {}, kNow);
  auto second = keep_keys(temp.path(), {"build.example", "10.1.2.3", "fd00::1"}, kNow);
  ASSERT_TRUE(first && second);
  EXPECT_NE(second->server.certificate_pem, first->server.certificate_pem);
  EXPECT_EQ(second->admin.certificate_pem, first->admin.certificate_pem);
  EXPECT_THAT(info_of(second->server).dns_names, Contains("build.example"));
  EXPECT_THAT(info_of(second->server).ip_addresses, Contains("10.1.2.3"));
  // A certificate with more names than are asked for now stays.
  EXPECT_EQ(keep_keys(temp.path(), {}, kNow)->server.certificate_pem,
            second->server.certificate_pem);
}

TEST(ClusterKeys, that_were_damaged_are_replaced) {
  TempDir temp;
  auto first = keep_keys(temp.path(), {}, kNow);
  ASSERT_TRUE(first);
  for (std::string_view name : {"ca.key", "admin.crt", "tokens.key", "admin.token"})
    ASSERT_TRUE(write_file(temp / name, ""));
  auto second = keep_keys(temp.path(), {}, kNow);
  ASSERT_TRUE(second);
  EXPECT_NE(second->authority.key_pem, first->authority.key_pem);
  EXPECT_NE(second->server.certificate_pem, first->server.certificate_pem);
  EXPECT_EQ(second->admin_token.size(), 64u);
  EXPECT_TRUE(net::verify_certificate(second->admin.certificate_pem, second->admin.key_pem,
                                      second->authority.certificate_pem, kNow));
}

TEST(ClusterKeys, of_a_node_contain_its_name_and_address) {
  TempDir temp;
  auto keys = keep_keys(temp.path(), {}, kNow);
  ASSERT_TRUE(keys);
  auto node = make_node_certificate(keys->authority, "n1", "127.32.1.1", kNow);
  ASSERT_TRUE(node);
  EXPECT_EQ(info_of(*node).common_name, "system:node:n1");
  EXPECT_THAT(info_of(*node).organizations, ElementsAre("system:nodes"));
  EXPECT_THAT(info_of(*node).ip_addresses, ElementsAre("127.32.1.1"));
}

}  // namespace
}  // namespace plim::local::cluster
