// Where the cgroup hierarchies of a machine are mounted, and where a process is in them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace plim::node {

struct CgroupMount {
  std::string directory;   // with the host root
  std::string root = "/";  // the cgroup that shows there; not "/" inside some containers
  std::vector<std::string> controllers = {};  // also "name=systemd"; of v2 what its root offers
  bool v2 = false;
  bool read_only = false;

  bool has(std::string_view controller) const;
};

// A controller belongs to one hierarchy. Version 1 has one mount for each or for several of them,
// version 2 one for all; a hybrid machine has both, and its version 2 may have none.
struct CgroupLayout {
  std::vector<CgroupMount> mounts;

  const CgroupMount* find(std::string_view controller) const;  // null: not on this machine
  const CgroupMount* unified() const;                          // the mount of version 2, or null
  bool is_v2() const;                                          // no controller is left to version 1
};

// From /proc/1/mountinfo below `host_root`; else, below another root than "/", from what lies in
// sys/fs/cgroup there, as in trees made for tests; else from /proc/self/mountinfo.
CgroupLayout detect_cgroups(const std::string& host_root);
CgroupLayout parse_cgroup_mounts(std::string_view mountinfo, const std::string& host_root);

// The lines of /proc/<pid>/cgroup: "4:memory:/a/b".
class CgroupMembership {
 public:
  static CgroupMembership parse(std::string_view text);
  // The path in that hierarchy, "/" at least.
  std::string path_in(const CgroupMount& mount) const;

 private:
  struct Line {
    std::vector<std::string> controllers;  // empty for version 2
    std::string path;
  };

  std::vector<Line> lines_;
};

// "0-3" after trimming, "" when it cannot be read.
std::string read_cgroup_file(const std::string& path);

}  // namespace plim::node
