// The process that stands between a pod's containers and the node: it starts them, keeps their log
// pipes, reaps them and remembers how they ended, so that the node may go and come back.
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

// One thread, one poll(2). Works in the pod's directory, which is its current one.
class Shim {
 public:
  // `signals` is a signalfd of SIGCHLD and SIGTERM.
  Shim(Fd listener, Fd signals);

  // Until it is told to quit or gets SIGTERM; nothing of the pod runs afterwards.
  void run();

 private:
  struct Container {
    StartSpec spec;
    ShimRun run;
    std::unique_ptr<CriLog> log;
    Fd out, err;
    Fd mounts;
  };

  // A short program beside a container: a probe or a hook. Its asker waits on a connection.
  struct Exec {
    pid_t pid = 0;
    Fd out, err;
    std::string output;
    Nanos deadline{0};  // on the monotonic clock; zero: none
    bool timed_out = false;
    bool ended = false;
    int exit_code = 0;
  };

  struct Connection {
    Fd fd;
    std::string in, out;
    bool watching = false;
    std::string following = {};  // wants to hear of every line this run logs
    bool at_end = false;         // nothing more to read; goes once `out` is sent
    std::unique_ptr<Exec> exec;  // what its asker waits for
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

// `plimsoll pod-shim DIRECTORY`: goes to the background once its socket listens. 3: that pod has a
// shim already.
int run_pod_shim(int argc, char** argv);

}  // namespace plim::local::kubelet
