#include "roles/errors.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

namespace plim::roles {
namespace {

constexpr std::array kErrors{
    ErrorEntry{Plm::unknown_command, "unknown command",
               "The first words of the command line name no command of this program. Commands of "
               "parts that this build does not contain are unknown too.",
               "run plimsoll --help for the list of commands"},
    ErrorEntry{Plm::unknown_flag, "unknown flag",
               "The command does not take this flag. Flags that every command takes are listed by "
               "plimsoll options.",
               "run the command with --help for its flags"},
    ErrorEntry{Plm::wrong_arguments, "missing or surplus arguments",
               "The command needs other arguments than it was given.",
               "run the command with --help for its usage line and examples"},
    ErrorEntry{Plm::bad_flag_value, "a flag's value cannot be used",
               "The value is not a number, duration, or one of the words this flag takes.",
               "run the command with --help to see what the flag takes"},
    ErrorEntry{Plm::bad_environment, "an environment variable cannot be used",
               "Variables PLIMSOLL_<COMMAND>_<FLAG> stand for flags and take the same values.",
               "correct the variable or unset it"},
    ErrorEntry{Plm::bad_settings_file, "the settings file cannot be used",
               "${XDG_CONFIG_HOME:-~/.config}/plimsoll/config.yaml is read when it exists. It may "
               "hold names of flags, and names of commands with their flags below; anything else "
               "is an error, so that a typing mistake does not go unnoticed.",
               "correct the line, or move the file away: it is never required"},
    ErrorEntry{Plm::bad_template, "an output template cannot be used",
               "The text after jsonpath= or custom-columns= has a mistake at the column given.",
               "kubectl's templates work here; quote them for the shell: -o 'jsonpath={.kind}'"},
    ErrorEntry{Plm::no_cluster, "no cluster is configured",
               "Neither --kubeconfig, nor KUBECONFIG, nor ~/.kube/config, nor a pod's service "
               "account says which cluster to use, or the file or context asked for does not "
               "exist.",
               "give --kubeconfig FILE or --server URL, or set KUBECONFIG"},
    ErrorEntry{Plm::bad_kubeconfig, "the kubeconfig cannot be used",
               "The file could be read, but not understood; the message says where and why.",
               "correct the kubeconfig; kubectl config view shows what kubectl makes of it"},
    ErrorEntry{Plm::unreachable, "the cluster cannot be reached",
               "No connection to the API server came about: nothing listens there, the name does "
               "not resolve, a firewall is between, or its certificate is not trusted.",
               "check that the cluster runs and that --context or --server names it"},
    ErrorEntry{Plm::timed_out, "the cluster did not answer in time",
               "The connection or the answer took longer than the limit.",
               "try again, or give more time with --timeout"},
    ErrorEntry{Plm::unauthorized, "the credentials are missing or were refused",
               "The API server does not know who is asking (HTTP 401): a token or certificate is "
               "missing, has expired, or belongs to another cluster. Or nothing was asked, since "
               "the kubeconfig's token file or credential plugin gave no credentials.",
               "log in again, or choose other credentials with --user or --context"},
    ErrorEntry{Plm::forbidden, "not allowed",
               "The API server knows who is asking, but no Role allows this request (HTTP 403).",
               "ask for a Role; kubectl auth can-i shows what is allowed"},
    ErrorEntry{Plm::not_found, "not found", "The API server has no such object or path (HTTP 404).",
               "check the name, and the namespace with -n"},
    ErrorEntry{Plm::exists, "already exists, or changed meanwhile",
               "The object exists already, or somebody changed it between reading and writing "
               "(HTTP 409).",
               "read the object again and repeat the change"},
    ErrorEntry{Plm::refused, "the API server refused the request",
               "The request is malformed or invalid; the message names the field (HTTP 400, 405, "
               "406, 413, 415, 422).",
               "correct what the message names"},
    ErrorEntry{Plm::server_failed, "the API server failed",
               "The server answered that it could not do it for a reason of its own (HTTP 5xx).",
               "try again; if it stays, look at the server's log"},
    ErrorEntry{Plm::throttled, "too many requests", "The API server asks to slow down (HTTP 429).",
               "wait a little and try again"},
    ErrorEntry{Plm::expired, "the requested version is too old",
               "The resourceVersion or continue token is no longer kept by the server (HTTP 410).",
               "start again without resourceVersion or continue"},
    ErrorEntry{Plm::unexpected_answer, "the answer was not what was expected",
               "The server answered with something else than JSON, so it cannot be formatted.",
               "repeat without -o to see the answer as it came"},
    ErrorEntry{Plm::cannot_read, "a file cannot be read",
               "A file or standard input named on the command line could not be read.",
               "check the path and its permissions"},
    ErrorEntry{Plm::cannot_write, "output cannot be written",
               "Standard output is closed or full, or a file could not be written.",
               "check where the output goes: disk space, permissions, redirections"},
    ErrorEntry{Plm::cannot_listen, "an address cannot be listened on",
               "Another process has the port, the address is none of this machine's, or ports of "
               "that number are for root only.",
               "choose another address, or end what has it: ss -ltnp shows who that is"},
    ErrorEntry{Plm::not_running, "the local cluster is not running",
               "No process holds the lock of a local cluster of this name.",
               "start it with plimsoll up, or name another one with --name"},
    ErrorEntry{Plm::already_running, "the local cluster is running already",
               "Another process holds the lock of this cluster, or a port it was told to use.",
               "use it, stop it with plimsoll down, or choose another --name"},
    ErrorEntry{Plm::local_failed, "the local cluster could not do it",
               "Its files, its ports or its processes are not as they should be; the message says "
               "which.",
               "correct what the message names and try again"},
    ErrorEntry{Plm::store_damaged, "the store of the local cluster is damaged",
               "A record before the end of the log is not as it was written: a disk or somebody "
               "else changed it. Everything before that place is good.",
               "plimsoll store verify --repair-to gives up what follows; it stays beside as *.cut"},
    ErrorEntry{Plm::bad_agent_config, "the agent cannot start with this configuration",
               "The configuration file has mistakes, or asks for something that this machine or "
               "this version does not have. Nothing was touched.",
               "correct what the message names; plimsoll agent check reads the file again"},
    ErrorEntry{Plm::root_refused, "the agent runs as root only when asked to",
               "Measuring needs few rights, so root must be meant.",
               "add --root (-0), or run it as another user"},
    ErrorEntry{Plm::bad_pool_config, "the CPU pools cannot be used like this",
               "The pool configuration breaks a rule, or does not fit this machine. Nothing of it "
               "was applied; an agent that runs keeps what it had.",
               "correct what the message names; plimsoll pools validate reads it again"},
    ErrorEntry{Plm::bad_scheduler_config, "the scheduler cannot be configured like this",
               "The KubeSchedulerConfiguration has mistakes, each told with its line and field. A "
               "scheduler that runs keeps the configuration it had.",
               "correct what the message names; plimsoll scheduler --check-config reads it again"},
    ErrorEntry{Plm::internal, "internal error", "A mistake in plimsoll itself.",
               "please report it with the command line that led to it"},
};

// What a server or a file says may hold line ends and worse; ours is one line that no terminal
// obeys.
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

// Every code a request can fail with that is not server_failed.
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
  // So we put an answer that is no Status, as an unknown path has and a server of another kind.
  if (plm == Plm::not_found && error.message.find("the server answered 404") != std::string::npos)
    out.next = "check the path, and that a Kubernetes API server is there";
  // So net puts a certificate that it does not trust.
  if (plm == Plm::unreachable && error.message.find(" not accepted: ") != std::string::npos)
    out.next =
        "check certificate-authority of the kubeconfig's cluster, or its tls-server-name if the "
        "certificate is for another name";
  return out;
}

Failure config_failure(const Error& error) {
  // A file that is missing may also be one that the kubeconfig of a cluster or user names.
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
  const bool listening = error.message.find("listening on ") != std::string::npos;  // net's words
  return Failure{.code = listening ? Plm::cannot_listen : usual, .exit = 1, .what = error.message};
}

std::string describe(const kube::Config& config) {
  if (config.source.empty()) return config.server;
  return fmt::format("{} ({})", config.server, config.source);
}

}  // namespace plim::roles
