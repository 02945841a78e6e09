#include "roles/errors.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

namespace plim::roles {
namespace {

constexpr std::array kErrors{
    ErrorEntry{Plm::unknown_command, "unknown command",
               "The first words of the command line are not a command of this program.",
               "run plimsoll --help for the list of commands"},
    ErrorEntry{
        Plm::unknown_flag, "unknown flag",
        "The command does not have this flag. plimsoll options lists the flags of all commands.",
        "run the command with --help for its flags"},
    ErrorEntry{Plm::wrong_arguments, "missing or extra arguments",
               "The command needs other arguments.",
               "run the command with --help for its usage line and examples"},
    ErrorEntry{Plm::bad_flag_value, "invalid value of a flag",
               "The value is not a number, a duration, or one of the words that this flag takes.",
               "run the command with --help to see what the flag takes"},
    ErrorEntry{Plm::bad_environment, "invalid environment variable",
               "A variable PLIMSOLL_<COMMAND>_<FLAG> sets a flag and takes the same values.",
               "correct the variable or unset it"},
    ErrorEntry{Plm::bad_settings_file, "invalid settings file",
               "Plimsoll reads ${XDG_CONFIG_HOME:-~/.config}/plimsoll/config.yaml if it exists. "
               "The file may contain names of flags, and names of commands with their flags below. "
               "Anything else is an error, to catch typing mistakes.",
               "correct the line, or remove the file: it is optional"},
    ErrorEntry{Plm::bad_template, "invalid output template",
               "The text after jsonpath= or custom-columns= has a mistake at the column given.",
               "kubectl's templates work here; quote them for the shell: -o 'jsonpath={.kind}'"},
    ErrorEntry{Plm::no_cluster, "no cluster is configured",
               "Neither --kubeconfig, KUBECONFIG, ~/.kube/config nor a pod's service account names "
               "a cluster, or the given file or context does not exist.",
               "pass --kubeconfig FILE or --server URL, or set KUBECONFIG"},
    ErrorEntry{
        Plm::bad_kubeconfig, "invalid kubeconfig",
        "Plimsoll can read the file but not parse it. The message names the place and the reason.",
        "correct the kubeconfig; kubectl config view shows how kubectl reads it"},
    ErrorEntry{Plm::unreachable, "the cluster cannot be reached",
               "There is no connection to the API server: nothing listens there, the name does not "
               "resolve, a firewall blocks it, or its certificate is not trusted.",
               "check that the cluster runs, and check --context or --server"},
    ErrorEntry{Plm::timed_out, "the cluster did not answer in time",
               "The connection or the answer took longer than the limit.",
               "try again, or use a longer --timeout"},
    ErrorEntry{
        Plm::unauthorized, "the credentials are missing or were rejected",
        "The API server does not accept the credentials (HTTP 401): a token or certificate is "
        "missing, expired, or belongs to another cluster. Or Plimsoll sent no request, because the "
        "token file or the credential plugin of the kubeconfig gave no credentials.",
        "log in again, or choose other credentials with --user or --context"},
    ErrorEntry{
        Plm::forbidden, "not allowed",
        "The API server accepts the credentials, but no Role allows this request (HTTP 403).",
        "ask for a Role; kubectl auth can-i shows what is allowed"},
    ErrorEntry{Plm::not_found, "not found", "The API server has no such object or path (HTTP 404).",
               "check the name, and the namespace with -n"},
    ErrorEntry{Plm::exists, "already exists, or changed meanwhile",
               "The object exists already, or another client changed it between reading and "
               "writing (HTTP 409).",
               "read the object again and repeat the change"},
    ErrorEntry{Plm::refused, "the API server rejected the request",
               "The request is malformed or invalid; the message names the field (HTTP 400, 405, "
               "406, 413, 415, 422).",
               "correct what the message names"},
    ErrorEntry{Plm::server_failed, "the API server failed",
               "The server reported an error of its own (HTTP 5xx).",
               "try again; if the error stays, read the server's log"},
    ErrorEntry{Plm::throttled, "too many requests", "The API server asks to slow down (HTTP 429).",
               "wait a little and try again"},
    ErrorEntry{Plm::expired, "the requested version is too old",
               "The server no longer has the resourceVersion or continue token (HTTP 410).",
               "start again without resourceVersion or continue"},
    ErrorEntry{Plm::unexpected_answer, "unexpected answer",
               "The answer of the server is not JSON, so Plimsoll cannot format it.",
               "repeat without -o to see the answer"},
    ErrorEntry{Plm::cannot_read, "a file cannot be read",
               "Plimsoll cannot read a file of the command line, or standard input.",
               "check the path and its permissions"},
    ErrorEntry{Plm::cannot_write, "output cannot be written",
               "Standard output is closed or full, or Plimsoll cannot write a file.",
               "check where the output goes: disk space, permissions, redirections"},
    ErrorEntry{Plm::cannot_listen, "cannot listen on an address",
               "Another process uses the port, the address does not belong to this machine, or "
               "only root may use this port.",
               "choose another address, or stop the process that uses it; ss -ltnp shows it"},
    ErrorEntry{Plm::not_running, "the local cluster is not running",
               "No process holds the lock of a local cluster with this name.",
               "start it with plimsoll up, or choose another one with --name"},
    ErrorEntry{Plm::already_running, "the local cluster is running already",
               "Another process holds the lock of this cluster, or a port that you configured.",
               "use it, stop it with plimsoll down, or choose another --name"},
    ErrorEntry{Plm::local_failed, "the local cluster failed",
               "Its files, ports or processes have a problem; the message names it.",
               "correct what the message names and try again"},
    ErrorEntry{
        Plm::store_damaged, "the store of the local cluster is damaged",
        "A record before the end of the log has changed since it was written. Everything before "
        "that place is good.",
        "plimsoll store verify --repair-to drops everything after it and keeps a copy as *.cut"},
    ErrorEntry{Plm::bad_agent_config, "the agent cannot start with this configuration",
               "The configuration file has mistakes, or requests something that this machine or "
               "this version does not have. The agent changed nothing.",
               "correct what the message names; plimsoll agent check checks the file"},
    ErrorEntry{Plm::root_refused, "the agent runs as root only with --root",
               "Measuring needs few permissions, so you must ask for root explicitly.",
               "add --root (-0), or run it as another user"},
    ErrorEntry{Plm::bad_pool_config, "invalid configuration of CPU pools",
               "The pool configuration has mistakes, or does not fit this machine. The agent "
               "applies nothing of it; a running agent keeps its old configuration.",
               "correct what the message names; plimsoll pools validate checks it"},
    ErrorEntry{Plm::bad_scheduler_config, "invalid configuration of the scheduler",
               "The KubeSchedulerConfiguration has mistakes; the message has line and field of "
               "each. A running scheduler keeps its old configuration.",
               "correct what the message names; plimsoll scheduler --check-config checks it"},
    ErrorEntry{Plm::internal, "internal error", "A bug in plimsoll.",
               "please report it with the command line"},
};

// Messages of a server or a file may contain newlines and control characters. Replaces them, so
// that the output is one line that cannot control the terminal.
std::string one_line(std::string_view text) {
  std::string out;
  for (char c : text) {
    bool printable = static_cast<unsigned char>(c) >= 0x20 && c != 0x7f;
    if (printable)
      out += c;
    else if (!out.empty() && out.back() != ' ')
      out += ' ';
  }
  return out;
}

struct RequestRow {
  Code code;
  Plm plm;
};

// Codes of failed requests. All other codes are server_failed.
constexpr std::array kRequestRows{
    RequestRow{Code::unavailable, Plm::unreachable},
    RequestRow{Code::timeout, Plm::timed_out},
    RequestRow{Code::server_timeout, Plm::timed_out},
    RequestRow{Code::unauthorized, Plm::unauthorized},
    RequestRow{Code::forbidden, Plm::forbidden},
    RequestRow{Code::not_found, Plm::not_found},
    RequestRow{Code::already_exists, Plm::exists},
    RequestRow{Code::conflict, Plm::exists},
    RequestRow{Code::bad_request, Plm::refused},
    RequestRow{Code::method_not_allowed, Plm::refused},
    RequestRow{Code::not_acceptable, Plm::refused},
    RequestRow{Code::too_large, Plm::refused},
    RequestRow{Code::unsupported_media_type, Plm::refused},
    RequestRow{Code::invalid, Plm::refused},
    RequestRow{Code::too_many_requests, Plm::throttled},
    RequestRow{Code::gone, Plm::expired},
    RequestRow{Code::expired, Plm::expired},
};

}  // namespace

std::span<const ErrorEntry> error_table() {
  return kErrors;
}

const ErrorEntry& entry(Plm code) {
  auto at = std::ranges::find(kErrors, code, &ErrorEntry::code);
  PLIM_ASSERT(at != kErrors.end());
  return *at;
}

const ErrorEntry* find_error(std::string_view text) {
  constexpr std::string_view kPrefix = "plm-";
  auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
  if (text.size() > kPrefix.size() && std::ranges::equal(text.substr(0, 4), kPrefix, same))
    text.remove_prefix(kPrefix.size());
  int number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return nullptr;
  auto at = std::ranges::find(kErrors, static_cast<Plm>(number), &ErrorEntry::code);
  return at == kErrors.end() ? nullptr : &*at;
}

std::string code_name(Plm code) {
  return fmt::format("PLM-{}", static_cast<int>(code));
}

std::string format_failure(const Failure& failure, std::string_view program) {
  const std::string code = code_name(failure.code);
  const std::string what = one_line(failure.what);
  switch (failure.shape) {
    case Failure::Shape::silent:
      return "";
    case Failure::Shape::one_line:
      return fmt::format("error {}: {}{}\n", code, what,
                         failure.next.empty() ? "" : "; " + failure.next);
    case Failure::Shape::three_lines:
      break;
  }
  std::string out = fmt::format("error {}: {}\n", code, what);
  if (!failure.tried.empty()) out += fmt::format("tried: {}\n", one_line(failure.tried));
  std::string_view next = failure.next.empty() ? entry(failure.code).remedy : failure.next;
  out += fmt::format("next:  {}; more: {} explain error {}\n", next, program, code);
  return out;
}

tl::unexpected<Failure> usage_failure(Plm code, std::string what, std::string hint) {
  return tl::unexpected(Failure{.code = code,
                                .exit = 2,
                                .what = std::move(what),
                                .next = std::move(hint),
                                .shape = Failure::Shape::one_line});
}

Failure request_failure(const Error& error, std::string tried) {
  auto at = std::ranges::find(kRequestRows, error.code, &RequestRow::code);
  Plm plm = at == kRequestRows.end() ? Plm::server_failed : at->plm;
  Failure out{
      .code = plm, .exit = exit_code(error.code), .what = error.message, .tried = std::move(tried)};
  // The kube client's text for an answer that is not a Status: an unknown path, or a server that is
  // not Kubernetes.
  if (plm == Plm::not_found && error.message.find("the server answered 404") != std::string::npos)
    out.next = "check the path, and that the address is a Kubernetes API server";
  // The text of `net` for a certificate that it does not trust.
  if (plm == Plm::unreachable && error.message.find(" not accepted: ") != std::string::npos)
    out.next =
        "check certificate-authority in the kubeconfig, or tls-server-name if the certificate has "
        "another name";
  return out;
}

Failure config_failure(const Error& error) {
  // The missing file may be one that a cluster or user of the kubeconfig names.
  const bool named_inside =
      error.message.starts_with("cluster ") || error.message.starts_with("user ");
  Plm plm = error.code == Code::not_found && !named_inside ? Plm::no_cluster : Plm::bad_kubeconfig;
  return Failure{.code = plm, .exit = exit_code(error.code), .what = error.message};
}

Failure file_failure(Plm code, const Error& error) {
  return Failure{.code = code, .exit = exit_code(error.code), .what = error.message};
}

Failure local_failure(const Error& error) {
  Plm code = error.code == Code::already_exists ? Plm::already_running : Plm::local_failed;
  int exit = error.code == Code::already_exists ? 3 : error.code == Code::invalid ? 2 : 1;
  return Failure{.code = code, .exit = exit, .what = error.message};
}

Failure daemon_failure(Plm usual, const Error& error) {
  const bool listening = error.message.find("listening on ") != std::string::npos;  // net's text
  return Failure{.code = listening ? Plm::cannot_listen : usual, .exit = 1, .what = error.message};
}

std::string describe(const kube::Config& config) {
  if (config.source.empty()) return config.server;
  return fmt::format("{} ({})", config.server, config.source);
}

}  // namespace plim::roles
