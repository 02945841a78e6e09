#include "kube/exec_plugin.hpp"

#include <sys/stat.h>

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/loop.hpp"
#include "base/testing/temp_dir.hpp"

namespace plim::kube {
namespace {

constexpr const char* kVersion = "client.authentication.k8s.io/v1";

Config config_with(std::string command) {
  Config config;
  config.server = "https://api:6443";
  config.exec.emplace();
  config.exec->api_version = kVersion;
  config.exec->command = std::move(command);
  config.exec->interactive_mode = "Never";
  return config;
}

std::string output(std::string_view status) {
  return fmt::format(R"({{"kind":"ExecCredential","apiVersion":"{}","status":{}}})", kVersion,
                     status);
}

std::string parse_error(std::string_view text) {
  const auto parsed = parse_exec_credential(text, *config_with("login").exec);
  return parsed ? "no error" : parsed.error().message;
}

TEST(ExecCredential, reads_token_certificate_and_expiry) {
  const auto parsed =
      parse_exec_credential(output(R"({"token":"t","clientCertificateData":"C","clientKeyData":"K",
                 "expirationTimestamp":"2023-11-14T22:13:20Z"})"),
                            *config_with("login").exec);
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->token, "t");
  EXPECT_EQ(parsed->certificate_pem, "C");
  EXPECT_EQ(parsed->key_pem, "K");
  EXPECT_EQ(parsed->expires, WallTime(std::chrono::seconds(1'700'000'000)));
}

TEST(ExecCredential, refuses_what_does_not_fit_and_never_quotes_it) {
  const std::string prefix = "credential plugin login: ";
  EXPECT_EQ(parse_error("s3cret"), prefix + "its output is not JSON");
  EXPECT_EQ(parse_error(R"({"kind":"s3cret"})"), prefix + "its output is not an ExecCredential");
  EXPECT_EQ(parse_error(R"({"kind":"ExecCredential","apiVersion":"s3cret"})"),
            prefix + "its output has an apiVersion other than client.authentication.k8s.io/v1");
  EXPECT_EQ(parse_error(output("[]")), prefix + "its output has no status");
  EXPECT_EQ(parse_error(output("{}")), prefix + "its output has neither token nor certificate");
  EXPECT_EQ(parse_error(output(R"({"clientKeyData":"s3cret"})")),
            prefix + "its output has only one of clientCertificateData and clientKeyData");
  EXPECT_EQ(parse_error(output(R"({"token":"s3cret\nX: y"})")),
            prefix + "its token has more than one line");
  EXPECT_EQ(parse_error(output(R"({"token":"s3cret","expirationTimestamp":"s3cret"})")),
            prefix + "its expirationTimestamp is not an RFC 3339 time");
}

TEST(ExecInfo, tells_the_plugin_about_the_cluster_only_if_it_asked) {
  Config config = config_with("login");
  EXPECT_EQ(exec_info(config, false),
            R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",)"
            R"("spec":{"interactive":false}})");
  config.exec->provide_cluster_info = true;
  config.exec->cluster_config = R"({"audience":"shop"})";
  config.tls.ca_pem = "CA";
  config.tls.server_name = "api.example";
  const auto info = parse_json(exec_info(config, true));
  ASSERT_TRUE(info);
  EXPECT_TRUE(bool_at(*info, {"spec", "interactive"}));
  EXPECT_EQ(text_at(*info, {"spec", "cluster", "server"}), "https://api:6443");
  EXPECT_EQ(text_at(*info, {"spec", "cluster", "tls-server-name"}), "api.example");
  EXPECT_EQ(text_at(*info, {"spec", "cluster", "certificate-authority-data"}), "Q0E=");
  EXPECT_EQ(text_at(*info, {"spec", "cluster", "config", "audience"}), "shop");
}

class ExecPluginRun : public ::testing::Test {
 protected:
  std::string script(std::string_view body) {
    const std::string path = directory / "login";
    EXPECT_TRUE(write_file(path, fmt::format("#!/bin/sh\n{}\n", body), {.mode = 0700}));
    return path;
  }

  Result<ExecCredential> run(Config config) {
    return run_to_end(loop, run_exec_plugin(std::move(config)));
  }

  plim::testing::TempDir directory;
  Loop loop;
};

TEST_F(ExecPluginRun, hands_over_arguments_environment_and_info) {
  Config config = config_with(script(
      R"(echo "{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\",)"
      R"(\"status\":{\"token\":\"$1-$REGION-$(echo $KUBERNETES_EXEC_INFO | wc -w)\"}}")"));
  config.exec->args = {"arg"};
  config.exec->env = {{"REGION", "west"}};
  const auto credential = run(config);
  ASSERT_TRUE(credential) << credential.error().message;
  EXPECT_EQ(credential->token, "arg-west-1");
}

TEST_F(ExecPluginRun, a_missing_program_gives_its_install_hint) {
  Config config = config_with(directory / "nothing-here");
  config.exec->install_hint = "run: apt install login";
  const auto credential = run(config);
  ASSERT_FALSE(credential);
  EXPECT_EQ(credential.error().message, "credential plugin " + directory / "nothing-here" +
                                            ": not found\n\nrun: apt install login");
  EXPECT_EQ(credential.error().code, Code::unauthorized);  // no object of the API is missing
}

TEST_F(ExecPluginRun, what_may_not_be_run_gives_no_credentials) {
  ASSERT_TRUE(write_file(directory / "login", "#!/bin/sh\n", {.mode = 0600}));
  EXPECT_EQ(run(config_with(directory / "login")).error().code, Code::unauthorized);
}

TEST_F(ExecPluginRun, a_failing_program_is_quoted_from_its_last_words_on_stderr) {
  const Config config = config_with(script("echo s3cret; echo one >&2; echo no login >&2; exit 3"));
  const auto credential = run(config);
  ASSERT_FALSE(credential);
  EXPECT_EQ(credential.error().message,
            "credential plugin " + config.exec->command + ": exit code 3: \"no login\"");
}

TEST_F(ExecPluginRun, always_interactive_needs_a_terminal) {
  Config config = config_with(script("exit 0"));
  config.exec->interactive_mode = "Always";
  if (::isatty(0)) GTEST_SKIP() << "standard input is a terminal";
  EXPECT_NE(run(config).error().message.find("not a terminal"), std::string::npos);
}

}  // namespace
}  // namespace plim::kube
