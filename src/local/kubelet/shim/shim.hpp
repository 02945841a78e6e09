// The shim is the process between the node and one pod's containers. It starts them, keeps their
// log pipes, reaps them and records how they ended. So the node can stop and start again.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <sys/types.h>
#include <vector>

#include "base/fd.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "local/kubelet/runtime/cri_log.hpp"
#include "local/kubelet/shim/shim_clone.hpp"
#include "local/kubelet/shim/shim_protocol.hpp"
#include "local/kubelet/shim/shim_spawn.hpp"

namespace plim::local::kubelet {

// Runs one thread with one poll(2). Its current directory is the pod's directory.
class Shim {
 public:
  // `signals` is a signalfd of SIGCHLD and SIGTERM.
  Shim(Fd listener, Fd signals);

  // Returns after a quit request or SIGTERM. No process of the pod runs afterwards.
  void run();

 private:
  struct Container {
    StartSpec spec;
    ShimRun run;
    std::unique_ptr<CriLog> log;
    Fd out, err;
    Fd mounts;
  };

  // A short program in a container: a probe or a hook. A client waits for its result.
  struct Exec {
    pid_t pid = 0;
    Fd out, err;
    std::string output;
    Nanos deadline{0};  // on the monotonic clock; zero: no limit
    bool timed_out = false;
    bool ended = false;
    int exit_code = 0;
  };

  struct Connection {
    Fd fd;
    std::string in, out;
    bool watching = false;
    std::string following = {};  // the run whose log lines the client follows
    bool at_end = false;         // nothing more to read; closed once `out` is sent
    std::unique_ptr<Exec> exec;  // the program the client waits for
  };

  void wait_for_something();
  void accept_connections();
  void serve(Connection& connection);
  void answer(Connection& connection, std::string_view line);
  json::value start(const json::value& request);
  json::value signal(const json::value& request);
  json::value kill_container(const json::value& request);
  void start_exec(Connection& connection, const json::value& request);
  void finish_execs();
  void stop_overdue_execs();

  void read_pipes();
  void tell_followers(std::string_view id, std::string_view text);
  void reap();
  void finish(Container& container, int status, const Moment& when);
  void kill_rest(const Container& container);
  void end_everything();
  void changed();
  Container* find_running(std::string_view id);
  ShimState state() const;

  Fd listener_, signals_;
  std::list<Container> containers_;
  std::list<Connection> connections_;
  std::vector<Fd> mounts_to_drop_;
  Slice slice_ = Slice::usual;
  bool quitting_ = false;
};

// `plimsoll pod-shim DIRECTORY`: goes to the background once its socket listens. Exit code 3: the
// pod already has a shim.
int run_pod_shim(int argc, char** argv);

}  // namespace plim::local::kubelet
