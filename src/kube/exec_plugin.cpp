#include "kube/exec_plugin.hpp"

#include <algorithm>
#include <array>
#include <unistd.h>

#include <fmt/format.h>

#include "base/base64.hpp"
#include "base/json.hpp"
#include "base/rfc3339.hpp"
#include "base/subprocess.hpp"
#include "base/text.hpp"

namespace plim::kube {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kVersion1 = "client.authentication.k8s.io/v1";
constexpr std::array kVersions{kVersion1, std::string_view("client.authentication.k8s.io/v1beta1")};
constexpr std::array kModes{std::string_view("Never"), std::string_view("IfAvailable"),
                            std::string_view("Always")};
constexpr auto kTimeout = 60s;               // a login to a cloud provider takes seconds
constexpr auto kInteractiveTimeout = 10min;  // time for a user to confirm a login on a phone
constexpr std::size_t kMaxOutput = 1u << 20;

Error plugin_error(const ExecPlugin& plugin, Code code, std::string_view what) {
  return fail(code, fmt::format("credential plugin {}: {}", plugin.command, what));
}

// The last line that a failing program wrote usually has the reason.
std::string complaint(std::string_view stderr_text) {
  std::string_view text = trim(stderr_text);
  const std::size_t line = text.rfind('\n');
  if (line != text.npos) text.remove_prefix(line + 1);
  if (text.empty()) return "";
  return ": " + quote(text);
}

}  // namespace

Result<void> check_exec_plugin(const ExecPlugin& plugin) {
  if (plugin.command.empty()) return fail(Code::invalid, "exec: command is missing");
  if (std::ranges::find(kVersions, plugin.api_version) == kVersions.end())
    return plugin_error(plugin, Code::invalid,
                        fmt::format("apiVersion \"{}\" is not supported; expected {}",
                                    plugin.api_version, fmt::join(kVersions, " or ")));
  if (plugin.interactive_mode.empty()) {
    if (plugin.api_version == kVersion1)
      return plugin_error(plugin, Code::invalid,
                          "interactiveMode is missing; expected Never, IfAvailable or Always");
  } else if (std::ranges::find(kModes, plugin.interactive_mode) == kModes.end()) {
    return plugin_error(plugin, Code::invalid,
                        fmt::format("interactiveMode \"{}\": expected Never, IfAvailable or Always",
                                    plugin.interactive_mode));
  }
  return {};
}

std::string exec_info(const Config& config, bool interactive) {
  json::object spec{{"interactive", interactive}};
  if (config.exec->provide_cluster_info) {
    json::object cluster{{"server", config.server}};
    if (!config.tls.server_name.empty()) cluster["tls-server-name"] = config.tls.server_name;
    if (config.tls.insecure) cluster["insecure-skip-tls-verify"] = true;
    if (!config.tls.ca_pem.empty())
      cluster["certificate-authority-data"] = base64_encode(config.tls.ca_pem);
    if (!config.proxy.empty()) cluster["proxy-url"] = config.proxy;
    if (auto extra = parse_json(config.exec->cluster_config)) cluster["config"] = *extra;
    spec["cluster"] = std::move(cluster);
  }
  const json::object out{{"kind", "ExecCredential"},
                         {"apiVersion", config.exec->api_version},
                         {"spec", std::move(spec)}};
  return to_json(out);
}

Result<ExecCredential> parse_exec_credential(std::string_view output, const ExecPlugin& plugin) {
  auto wrong = [&](std::string_view what) { return plugin_error(plugin, Code::invalid, what); };
  const auto parsed = parse_json(output);
  if (!parsed) return wrong("its output is not JSON");
  if (text_at(*parsed, {"kind"}) != "ExecCredential")
    return wrong("its output is not an ExecCredential");
  if (text_at(*parsed, {"apiVersion"}) != plugin.api_version)
    return wrong(fmt::format("its output has an apiVersion other than {}", plugin.api_version));
  const json::value* status = find(*parsed, {"status"});
  if (!status || !status->is_object()) return wrong("its output has no status");

  ExecCredential out;
  out.token = text_at(*status, {"token"});
  out.certificate_pem = text_at(*status, {"clientCertificateData"});
  out.key_pem = text_at(*status, {"clientKeyData"});
  if (out.certificate_pem.empty() != out.key_pem.empty())
    return wrong("its output has only one of clientCertificateData and clientKeyData");
  if (out.token.empty() && out.key_pem.empty())
    return wrong("its output has neither token nor certificate");
  if (out.token.find_first_of("\r\n") != std::string::npos)
    return wrong("its token has more than one line");
  if (auto text = text_at(*status, {"expirationTimestamp"}); !text.empty()) {
    auto expires = parse_rfc3339(text);
    if (!expires) return wrong("its expirationTimestamp is not an RFC 3339 time");
    out.expires = *expires;
  }
  return out;
}

Task<Result<ExecCredential>> run_exec_plugin(Config config) {
  const ExecPlugin& plugin = *config.exec;
  PLIM_CO_CHECK(check_exec_plugin(plugin));
  const bool interactive = plugin.interactive_mode != "Never" && ::isatty(STDIN_FILENO) == 1;
  if (plugin.interactive_mode == "Always" && !interactive)
    co_return plugin_error(plugin, Code::unauthorized,
                           "interactiveMode is Always, but standard input is not a terminal");
  Command command;
  command.argv.push_back(plugin.command);
  command.argv.insert(command.argv.end(), plugin.args.begin(), plugin.args.end());
  command.env = plugin.env;
  command.env.emplace_back("KUBERNETES_EXEC_INFO", exec_info(config, interactive));
  command.out = Output::captured(kMaxOutput);
  command.timeout = kTimeout;
  if (interactive) {
    command.inherit_input = true;
    command.own_group = false;
    command.err = Output::inherited();
    command.timeout = kInteractiveTimeout;
  }
  auto finished = co_await run(std::move(command));
  if (!finished) {
    Error error = finished.error();
    // Other codes would look like answers to the request, which was never sent.
    const bool is_missing = error.code == Code::not_found;
    if (is_missing || error.code == Code::forbidden) error.code = Code::unauthorized;
    if (is_missing) {
      error.message = "not found";
      if (!plugin.install_hint.empty()) error.message += "\n\n" + plugin.install_hint;
    }
    error.message = fmt::format("credential plugin {}: {}", plugin.command, error.message);
    co_return error;
  }
  if (!finished->exit.ok())
    co_return plugin_error(plugin, Code::unauthorized,
                           finished->exit.describe() + complaint(finished->err.text));
  if (finished->out.truncated)
    co_return plugin_error(plugin, Code::too_large, "it printed more than 1 MiB");
  co_return parse_exec_credential(finished->out.text, plugin);
}

}  // namespace plim::kube
