#include "kube/config.hpp"

#include <filesystem>
#include <map>

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/testing/temp_dir.hpp"

namespace plim::kube {
namespace {

class ConfigTest : public ::testing::Test {
 protected:
  void SetUp() override { env["HOME"] = home.path(); }

  std::string write(const std::string& name, std::string_view text) {
    const std::string path = home / name;
    EXPECT_TRUE(make_directories(std::filesystem::path(path).parent_path()));
    EXPECT_TRUE(write_file(path, text, {.sync = false}));
    return path;
  }

  GetEnv getenv() {
    return [this](std::string_view name) -> std::optional<std::string> {
      const auto it = env.find(name);
      if (it == env.end()) return std::nullopt;
      return it->second;
    };
  }

  Result<Config> load(const ConfigOverrides& overrides = {}) {
    return load_config(overrides, getenv());
  }

  std::string error(const ConfigOverrides& overrides = {}) {
    const auto config = load(overrides);
    return config ? "no error" : config.error().message;
  }

  plim::testing::TempDir home;
  std::map<std::string, std::string, std::less<>> env;
};

constexpr std::string_view kTwo = R"(
current-context: dev
clusters:
- {name: one, cluster: {server: "https://one", certificate-authority: ca.crt}}
- {name: two, cluster: {server: "https://two"}}
users:
- {name: admin, user: {token: t0ken}}
- {name: basic, user: {username: me, password: pass}}
contexts:
- {name: dev, context: {cluster: one, user: admin, namespace: shop}}
- {name: prod, context: {cluster: two, user: basic}}
- {name: lost, context: {cluster: gone, user: admin}}
- {name: nobody, context: {cluster: two, user: gone}}
- {name: bare, context: {user: admin}}
)";

TEST_F(ConfigTest, takes_the_current_context_of_the_home_file) {
  write(".kube/config", kTwo);
  write(".kube/ca.crt", "PEM");
  const auto config = load();
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->server, "https://one");
  EXPECT_EQ(config->tls.ca_pem, "PEM");
  EXPECT_EQ(config->token, "t0ken");
  EXPECT_EQ(config->ns, "shop");
  EXPECT_EQ(config->source, "context dev of ~/.kube/config");
}

TEST_F(ConfigTest, flags_override_context_cluster_user_server_and_namespace) {
  write(".kube/config", kTwo);
  const auto prod = load({.context = "prod"});
  ASSERT_TRUE(prod) << prod.error().message;
  EXPECT_EQ(prod->server, "https://two");
  EXPECT_EQ(prod->username, "me");
  EXPECT_EQ(prod->ns, "default");
  const auto mixed = load(
      {.context = "dev", .cluster = "two", .user = "basic", .server = "https://x", .ns = "other"});
  ASSERT_TRUE(mixed) << mixed.error().message;
  EXPECT_EQ(mixed->server, "https://x");
  EXPECT_EQ(mixed->password, "pass");
  EXPECT_EQ(mixed->ns, "other");
  EXPECT_EQ(mixed->token, "");
}

TEST_F(ConfigTest, says_what_does_not_exist) {
  write(".kube/config", kTwo);
  EXPECT_EQ(error({.context = "x"}),
            "context \"x\" does not exist (there are: bare, dev, lost, nobody, prod)");
  EXPECT_EQ(error({.context = "lost"}), "cluster \"gone\" does not exist (there are: one, two)");
  EXPECT_EQ(error({.context = "nobody"}), "user \"gone\" does not exist (there are: admin, basic)");
  EXPECT_EQ(error({.context = "bare"}), "context \"bare\" has no cluster");
  EXPECT_TRUE(error().starts_with("cluster \"one\": certificate-authority: ")) << error();
}

TEST_F(ConfigTest, reports_invalid_addresses_with_their_place_when_they_are_used) {
  write(".kube/config", R"(current-context: good
clusters:
- {name: good, cluster: {server: "https://a"}}
- {name: typo, cluster: {server: "https:/b"}}
- name: proxied
  cluster:
    server: https://c
    proxy-url: socks5://me:s3cret@proxy
- {name: encrypted, cluster: {server: "https://d", proxy-url: "https://proxy"}}
contexts:
- {name: good, context: {cluster: good}}
)");
  EXPECT_TRUE(load());
  EXPECT_EQ(
      error({.cluster = "typo"}),
      "~/.kube/config:4:34: clusters[1].cluster.server: URL \"https:/b\": expected a host name");
  EXPECT_TRUE(load({.cluster = "typo", .server = "https://here"}));
  EXPECT_EQ(error({.cluster = "proxied"}),
            "~/.kube/config:8:16: clusters[2].cluster.proxy-url: URL \"socks5://proxy\": expected "
            "http://, https:// or unix:// at the start");
  EXPECT_EQ(
      error({.cluster = "encrypted"}),
      "~/.kube/config:9:63: clusters[3].cluster.proxy-url: only http:// proxies are supported");
}

TEST_F(ConfigTest, merges_the_list_of_kubeconfig_and_skips_missing_files) {
  write("a", "users: [{name: u, user: {token: first}}]\n");
  write("sub/b", R"({current-context: c, users: [{name: u, user: {token: second}}],
    clusters: [{name: k, cluster: {server: "https://b", certificate-authority: ca}}],
    contexts: [{name: c, context: {cluster: k, user: u}}]})");
  write("sub/ca", "CA of b");
  env["KUBECONFIG"] = home / "missing" + ":" + home / "a" + "::" + home / "sub/b";
  const auto config = load();
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->token, "first");
  EXPECT_EQ(config->tls.ca_pem, "CA of b");
}

TEST_F(ConfigTest, a_file_given_by_flag_is_the_only_one_and_must_exist) {
  write(".kube/config", kTwo);
  env["KUBECONFIG"] = home / ".kube/config";
  const std::string other = write("other", "current-context: dev\n");
  EXPECT_EQ(error({.kubeconfig = other}), "context \"dev\" does not exist");
  EXPECT_TRUE(error({.kubeconfig = home / "none"}).starts_with("kubeconfig: ")) << error();
}

TEST_F(ConfigTest, says_what_to_do_when_nothing_is_configured) {
  EXPECT_EQ(load().error().code, Code::not_found);
  EXPECT_NE(error().find("set KUBECONFIG, pass --kubeconfig"), std::string::npos);
  env["KUBECONFIG"] = home / "missing";
  EXPECT_NE(error().find("no cluster is configured"), std::string::npos);
}

TEST_F(ConfigTest, asks_for_a_context_when_none_is_current) {
  write(".kube/config", "contexts: [{name: a, context: {cluster: b}}]");
  EXPECT_EQ(error(),
            "no current context is set; choose one with --context or \"kubectl config "
            "use-context\" (there are: a)");
}

TEST_F(ConfigTest, a_server_alone_is_enough) {
  const auto config = load({.server = "http://127.0.0.1:8001"});
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->server, "http://127.0.0.1:8001");
}

// The user "u" of a cluster that is fine.
std::string with_user(std::string_view user, std::string_view cluster = "server: https://x") {
  return fmt::format(
      "{{current-context: c, contexts: [{{name: c, context: {{cluster: k, user: u}}}}],\n"
      "clusters: [{{name: k, cluster: {{{}}}}}],\nusers: [{{name: u, user: {{{}}}}}]}}",
      cluster, user);
}

TEST_F(ConfigTest, inline_data_wins_over_files) {
  write(".kube/config",
        with_user("client-certificate: /missing, client-certificate-data: Q0VSVA==, "
                  "client-key: /missing, client-key-data: S0VZ"));
  const auto config = load();
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->tls.certificate_pem, "CERT");
  EXPECT_EQ(config->tls.key_pem, "KEY");
}

TEST_F(ConfigTest, refuses_what_client_go_refuses) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"token: a, username: b",
       "user \"u\": token and username exclude each other; only one is allowed"},
      {"client-key-data: S0VZ", "user \"u\": client-certificate and client-key need each other"},
      {"as-groups: [x]", "user \"u\": as-uid, as-groups and as-user-extra need \"as\""},
      {"auth-provider: {name: gcp}",
       "user \"u\": auth-provider \"gcp\": Kubernetes 1.26 removed these; use an exec plugin "
       "instead"},
      {"exec: {apiVersion: client.authentication.k8s.io/v1}",
       "user \"u\": exec: command is missing"},
      {"exec: {command: x, apiVersion: v7}",
       "user \"u\": credential plugin x: apiVersion \"v7\" is not supported; expected "
       "client.authentication.k8s.io/v1 or client.authentication.k8s.io/v1beta1"},
      {"exec: {command: x, apiVersion: client.authentication.k8s.io/v1}",
       "user \"u\": credential plugin x: interactiveMode is missing; expected Never, IfAvailable "
       "or "
       "Always"},
  };
  for (const auto& [user, message] : cases) {
    write(".kube/config", with_user(user));
    EXPECT_EQ(error(), message);
  }
  write(".kube/config", with_user("",
                                  "server: https://x, certificate-authority-data: Q0E=, "
                                  "insecure-skip-tls-verify: true"));
  EXPECT_EQ(error(),
            "cluster \"k\": certificate-authority and insecure-skip-tls-verify exclude each other");
  write(".kube/config", with_user("", "proxy-url: http://p"));
  EXPECT_EQ(error(), "cluster \"k\": server is missing");
}

TEST_F(ConfigTest, sends_no_credentials_without_tls_unless_told_to) {
  const std::string exec =
      "exec: {command: x, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never}";
  for (const std::string& secret : {std::string("token: s3cret"), std::string("tokenFile: s3cret"),
                                    std::string("username: u, password: s3cret"), exec}) {
    write(".kube/config", with_user(secret, "server: http://api:8080"));
    EXPECT_EQ(error(),
              "http://api:8080 is not an https:// address, so everybody on the way could read the "
              "credentials of the kubeconfig; use https://, or set "
              "PLIMSOLL_CREDENTIALS_WITHOUT_TLS=1 to send them");
    EXPECT_EQ(error({.server = "https://api"}), "no error");
    for (const char* loopback : {"http://localhost:8001", "http://127.0.0.1:1", "http://[::1]:1"})
      EXPECT_EQ(error({.server = loopback}), "no error");
    env["PLIMSOLL_CREDENTIALS_WITHOUT_TLS"] = "1";
    EXPECT_EQ(error(), "no error");
    env.erase("PLIMSOLL_CREDENTIALS_WITHOUT_TLS");
  }
  write(".kube/config", with_user("as: me", "server: http://api:8080"));
  EXPECT_EQ(error(), "no error");
  write(".kube/config", with_user("token: s3cret"));
  EXPECT_NE(error({.server = "http://localhost.api"}), "no error");
}

TEST_F(ConfigTest, errors_do_not_show_secrets) {
  for (const char* user :
       {"token: s3cret, username: b, password: s3cret", "password: s3cret, as-groups: [x]",
        "token: s3cret, client-key-data: S0VZ",
        "token: s3cret, auth-provider: {name: x, config: {k: s3cret}}",
        "exec: {command: x, args: [s3cret], env: [{name: A, value: s3cret}]}"}) {
    write(".kube/config", with_user(user));
    EXPECT_NE(error(), "no error");
    EXPECT_EQ(error().find("s3cret"), std::string::npos) << error();
  }
}

TEST_F(ConfigTest, finds_itself_in_a_pod) {
  const std::string account = "var/run/secrets/kubernetes.io/serviceaccount/";
  write(account + "token", "t0ken\n");
  write(account + "ca.crt", "CA");
  write(account + "namespace", "shop\n");
  env["KUBERNETES_SERVICE_HOST"] = "10.0.0.1";
  env["KUBERNETES_SERVICE_PORT"] = "443";
  auto config = in_cluster_config(getenv(), home.path());
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->server, "https://10.0.0.1:443");
  EXPECT_EQ(config->token_file, home / account + "token");
  EXPECT_EQ(config->tls.ca_pem, "CA");
  EXPECT_EQ(config->ns, "shop");
  env["KUBERNETES_SERVICE_HOST"] = "fd00::1";
  EXPECT_EQ(in_cluster_config(getenv(), home.path())->server, "https://[fd00::1]:443");
}

TEST_F(ConfigTest, distinguishes_no_pod_from_a_pod_without_a_token) {
  EXPECT_EQ(in_cluster_config(getenv(), home.path()).error().code, Code::not_found);
  env["KUBERNETES_SERVICE_HOST"] = "10.0.0.1";
  env["KUBERNETES_SERVICE_PORT"] = "443";
  const auto config = in_cluster_config(getenv(), home.path());
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().code, Code::unauthorized);
  EXPECT_NE(config.error().message.find("serviceaccount/token"), std::string::npos);
}

}  // namespace
}  // namespace plim::kube
