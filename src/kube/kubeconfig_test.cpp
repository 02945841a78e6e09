#include "kube/kubeconfig.hpp"

#include <random>
#include <regex>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace plim::kube {
namespace {

constexpr std::string_view kComplete = R"(apiVersion: v1
kind: Config
current-context: dev
preferences: {colors: true}
clusters:
- name: kind
  cluster:
    server: https://127.0.0.1:6443
    certificate-authority: pki/ca.crt
    certificate-authority-data: Q0EK
    tls-server-name: api.example
    proxy-url: http://proxy:3128
    extensions:
    - name: client.authentication.k8s.io/exec
      extension: {audience: shop}
    - name: other
      extension: ignored
users:
- name: admin
  user:
    client-certificate: ./admin.crt
    client-certificate-data: Q0VSVAo=
    client-key: /abs/admin.key
    tokenFile: ../token
    as: root
    as-uid: "0"
    as-groups: [a, b]
    as-user-extra: {scopes: [x, z]}
- name: plugin
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: bin/login
      args: [get-token, --quiet]
      env:
      - name: REGION
        value: west
      installHint: get it from your cloud
      provideClusterInfo: true
      interactiveMode: Never
contexts:
- name: dev
  context: {cluster: kind, user: admin, namespace: shop}
)";

Result<Kubeconfig> parse(std::string_view text) {
  return parse_kubeconfig(text, "/home/me/.kube/config", "~/.kube/config");
}

std::string error_of(std::string_view text) {
  auto parsed = parse(text);
  return parsed ? "no error" : parsed.error().message;
}

TEST(Kubeconfig, reads_every_field) {
  const auto parsed = parse(kComplete);
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->current_context, "dev");
  const KubeconfigCluster& cluster = parsed->clusters.at("kind");
  EXPECT_EQ(cluster.server, "https://127.0.0.1:6443");
  EXPECT_EQ(cluster.ca_data, "CA\n");
  EXPECT_EQ(cluster.tls_server_name, "api.example");
  EXPECT_EQ(cluster.proxy_url, "http://proxy:3128");
  EXPECT_EQ(cluster.exec_config, R"({"audience":"shop"})");
  const KubeconfigUser& admin = parsed->users.at("admin");
  EXPECT_EQ(admin.certificate_data, "CERT\n");
  EXPECT_EQ(admin.as, "root");
  EXPECT_EQ(admin.as_uid, "0");
  EXPECT_EQ(admin.as_groups, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(admin.as_extra,
            (std::vector<std::pair<std::string, std::string>>{{"scopes", "x"}, {"scopes", "z"}}));
  const ExecPlugin& exec = *parsed->users.at("plugin").exec;
  EXPECT_EQ(exec.args, (std::vector<std::string>{"get-token", "--quiet"}));
  EXPECT_EQ(exec.env, (std::vector<std::pair<std::string, std::string>>{{"REGION", "west"}}));
  EXPECT_EQ(exec.install_hint, "get it from your cloud");
  EXPECT_TRUE(exec.provide_cluster_info);
  const KubeconfigContext& context = parsed->contexts.at("dev");
  EXPECT_EQ(context.cluster, "kind");
  EXPECT_EQ(context.user, "admin");
  EXPECT_EQ(context.ns, "shop");
}

TEST(Kubeconfig, resolves_relative_names_against_their_file) {
  const auto parsed = parse(kComplete);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->clusters.at("kind").ca_file, "/home/me/.kube/pki/ca.crt");
  EXPECT_EQ(parsed->users.at("admin").certificate_file, "/home/me/.kube/admin.crt");
  EXPECT_EQ(parsed->users.at("admin").key_file, "/abs/admin.key");
  EXPECT_EQ(parsed->users.at("admin").token_file, "/home/me/token");
  EXPECT_EQ(parsed->users.at("plugin").exec->command, "/home/me/.kube/bin/login");
  const auto bare = parse("users: [{name: a, user: {exec: {command: aws}}}]");
  EXPECT_EQ(bare->users.at("a").exec->command, "aws");  // looked up in PATH
}

TEST(Kubeconfig, may_be_empty_or_json) {
  for (const char* text : {"", "# nothing\n", "{}", "clusters: null\nusers:\ncontexts: []\n"}) {
    const auto parsed = parse(text);
    ASSERT_TRUE(parsed) << text << parsed.error().message;
    EXPECT_TRUE(parsed->empty());
  }
  EXPECT_EQ(parse(R"({"current-context": "x"})")->current_context, "x");
}

TEST(Kubeconfig, errors_name_file_line_column_and_what_was_expected) {
  EXPECT_EQ(error_of("users:\n- name: a\n  user:\n    token: [x, y]\n"),
            "~/.kube/config:4:12: users[0].user.token: expected a string, found a list");
  EXPECT_EQ(error_of("clusters:\n- name: a\n- name: b\n  cluster: {server: 1}\n"),
            "~/.kube/config:4:21: clusters[1].cluster.server: expected a string, found a number");
  EXPECT_EQ(error_of("clusters: 3\n"),
            "~/.kube/config:1:11: clusters: expected a list, found a number");
  EXPECT_EQ(error_of("contexts: [5]\n"),
            "~/.kube/config:1:12: contexts[0]: expected a map, found a number");
  EXPECT_EQ(error_of("just text\n"), "~/.kube/config:1:1: expected a map, found a string");
  EXPECT_EQ(error_of("apiVersion: v2\n"), "~/.kube/config:1:13: apiVersion: expected v1");
  EXPECT_EQ(error_of("users:\n- {name: a}\n- {name: a}\n"),
            "~/.kube/config:3:10: users[1].name: \"a\" occurs twice");
  EXPECT_EQ(
      error_of("clusters:\n- cluster: {insecure-skip-tls-verify: sure}\n"),
      "~/.kube/config:2:39: clusters[0].cluster.insecure-skip-tls-verify: expected a boolean, "
      "found a string");
}

TEST(Kubeconfig, errors_of_the_syntax_name_the_place_too) {
  EXPECT_TRUE(error_of("users: [\n").starts_with("~/.kube/config:")) << error_of("users: [\n");
}

TEST(Kubeconfig, errors_do_not_show_secrets) {
  for (const char* text : {"users: [{name: a, user: {client-key-data: s3cret!}}]",
                           "users: [{name: a, user: {token: [s3cret]}}]",
                           "users:\n- name: a\n  user:\n    token: s3cret\n   password: s3cret\n",
                           "users: [{name: a, user: {password: \"s3cret\\q\"}}]",
                           "users: [{name: a, user: {token: s3cret"}) {
    const std::string message = error_of(text);
    EXPECT_NE(message, "no error") << text;
    EXPECT_EQ(message.find("s3cret"), std::string::npos) << message;
  }
}

Kubeconfig numbered(const std::vector<std::string>& names, int file) {
  Kubeconfig out;
  for (const std::string& name : names) {
    out.clusters[name].server = std::to_string(file);
    out.users[name].token = std::to_string(file);
    out.contexts[name].ns = std::to_string(file);
  }
  if (!names.empty()) out.current_context = std::to_string(file);
  return out;
}

RC_GTEST_PROP(KubeconfigMerge, the_first_file_that_has_a_name_wins, ()) {
  using Names = std::vector<std::string>;
  const auto name = rc::gen::element<std::string>("a", "b", "c", "d");
  const auto files = *rc::gen::container<std::vector<Names>>(rc::gen::container<Names>(name));
  std::map<std::string, std::string> expected;
  std::string current;
  Kubeconfig merged;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::string number = std::to_string(i);
    for (const std::string& each : files[i]) expected.emplace(each, number);
    if (current.empty() && !files[i].empty()) current = number;
    merge(merged, numbered(files[i], static_cast<int>(i)));
  }
  RC_ASSERT(merged.current_context == current);
  RC_ASSERT(merged.clusters.size() == expected.size());
  for (const auto& [key, number] : expected) {
    RC_ASSERT(merged.clusters.at(key).server == number);
    RC_ASSERT(merged.users.at(key).token == number);
    RC_ASSERT(merged.contexts.at(key).ns == number);
  }
}

// One to four bytes or spans changed; the seed is fixed, so a failure can be repeated.
std::string mutated(std::string text, std::mt19937& random) {
  static constexpr std::string_view kSpice = "{}[]:,-#&*!|>'\"%@`\n\t \\0~\xff\xc3";
  auto below = [&](std::size_t limit) { return random() % std::max<std::size_t>(limit, 1); };
  for (std::size_t changes = 1 + below(4); changes > 0; --changes) {
    const std::size_t at = below(text.size());
    const std::size_t length = below(20);
    switch (below(5)) {
      case 0:
        text.insert(at, 1, kSpice[below(kSpice.size())]);
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, text.substr(below(text.size()), length));
        break;
      case 3:
        if (!text.empty()) text[at] = static_cast<char>(random());
        break;
      default:
        text.resize(at);
    }
  }
  return text;
}

void expect_place(const std::string& message) {
  static const std::regex kPlace(R"(~/\.kube/config:[1-9][0-9]*:[1-9][0-9]*: [^]+)");
  EXPECT_TRUE(std::regex_match(message, kPlace)) << message;
}

TEST(Kubeconfig, a_thousand_mutants_parse_or_fail_with_a_place) {
  std::mt19937 random(20);
  int failed = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::string text = mutated(std::string(kComplete), random);
    const auto parsed = parse(text);
    if (parsed) {
      for (const auto& [name, cluster] : parsed->clusters)
        for (const auto* problem : {&cluster.server_problem, &cluster.proxy_problem})
          if (*problem) expect_place((*problem)->message);
      continue;
    }
    ++failed;
    expect_place(parsed.error().message);
  }
  EXPECT_GT(failed, 100);
  EXPECT_LT(failed, 1000);
}

}  // namespace
}  // namespace plim::kube
