#include "local/cluster/kubeconfig_file.hpp"

#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/testing/temp_dir.hpp"
#include "kube/kubeconfig.hpp"

namespace plim::local::cluster {
namespace {

using plim::testing::TempDir;
using ::testing::HasSubstr;

const KubeconfigEntry kEntry{.name = "plimsoll-a",
                             .server = "https://127.0.0.1:7443",
                             .ca_pem = "CA",
                             .client = {.certificate_pem = "CERT", .key_pem = "KEY"}};

kube::Kubeconfig read(const std::string& path) {
  auto text = read_file(path);
  PLIM_ASSERT(text);
  auto parsed = kube::parse_kubeconfig(*text, path, path);
  PLIM_ASSERT(parsed);
  return *parsed;
}

TEST(KubeconfigFile, holds_one_context_with_everything_inline) {
  auto parsed = kube::parse_kubeconfig(kubeconfig_text(kEntry), "/x", "x");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->current_context, "plimsoll-a");
  EXPECT_EQ(parsed->clusters["plimsoll-a"].server, "https://127.0.0.1:7443");
  EXPECT_EQ(parsed->clusters["plimsoll-a"].ca_data, "CA");
  EXPECT_EQ(parsed->users["plimsoll-a"].certificate_data, "CERT");
  EXPECT_EQ(parsed->users["plimsoll-a"].key_data, "KEY");
}

TEST(KubeconfigFile, merging_keeps_what_others_wrote_and_a_backup) {
  TempDir temp;
  const std::string path = temp / "config", before = R"(
apiVersion: v1
kind: Config
current-context: work
clusters: [{name: work, cluster: {server: "https://work"}}]
contexts: [{name: work, context: {cluster: work, user: me}}]
users: [{name: me, user: {token: t}}]
extensions: [{name: mine, extension: {a: 1}}]
)";
  ASSERT_TRUE(write_file(path, before));
  ASSERT_TRUE(merge_kubeconfig(path, kEntry));
  KubeconfigEntry moved = kEntry;
  moved.server = "https://127.0.0.1:7444";
  EXPECT_EQ(read_file(path + ".plimsoll-backup").value(), before);
  ASSERT_TRUE(merge_kubeconfig(path, moved));
  kube::Kubeconfig now = read(path);
  EXPECT_EQ(now.current_context, "plimsoll-a");
  EXPECT_EQ(now.clusters.size(), 2u);
  EXPECT_EQ(now.clusters["work"].server, "https://work");
  EXPECT_EQ(now.clusters["plimsoll-a"].server, "https://127.0.0.1:7444");
  EXPECT_EQ(now.users["me"].token, "t");
  EXPECT_THAT(read_file(path).value(), HasSubstr("extensions:"));
  struct stat info{};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  ASSERT_TRUE(unmerge_kubeconfig(path, "plimsoll-a"));
  now = read(path);
  EXPECT_EQ(now.clusters.size(), 1u);
  EXPECT_EQ(now.current_context, "");
}

TEST(KubeconfigFile, merging_makes_a_missing_file_and_follows_a_link) {
  TempDir temp;
  ASSERT_TRUE(merge_kubeconfig(temp / "new/config", kEntry));
  EXPECT_EQ(read(temp / "new/config").contexts.size(), 1u);
  ASSERT_EQ(::symlink((temp / "new/config").c_str(), (temp / "link").c_str()), 0);
  ASSERT_TRUE(merge_kubeconfig(temp / "link", kEntry));
  EXPECT_TRUE(std::filesystem::is_symlink(temp / "link"));
}

TEST(KubeconfigFile, merging_touches_no_file_that_it_does_not_understand) {
  TempDir temp;
  for (std::string_view text : {"clusters: 5\n", "- a\n", "{"}) {
    ASSERT_TRUE(write_file(temp / "config", text));
    EXPECT_FALSE(merge_kubeconfig(temp / "config", kEntry)) << text;
    EXPECT_EQ(read_file(temp / "config").value(), text);
  }
  EXPECT_TRUE(unmerge_kubeconfig(temp / "missing", "plimsoll-a"));
}

}  // namespace
}  // namespace plim::local::cluster
