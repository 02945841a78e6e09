#include <gtest/gtest.h>

#include "base/rfc3339.hpp"
#include "local/apiserver/patch/testing/sample_types.hpp"
#include "local/apiserver/table/object_table.hpp"

namespace plim::local::apiserver {
namespace {

using testing::doc;

const WallTime kNow = parse_rfc3339("2024-01-02T03:04:05Z").value();

// Ready, Status and Restarts of a pod with this spec and status.
std::string summary(const char* spec, const char* status, const char* metadata = "{}") {
  json::value pod = json::object();
  pod.get_object()["metadata"] = doc(metadata);
  pod.get_object()["spec"] = doc(spec);
  pod.get_object()["status"] = doc(status);
  const json::array cells = table_view("", "Pod").cells(pod, kNow);
  return std::string(cells[1].get_string()) + " " + std::string(cells[2].get_string()) + " " +
         std::string(cells[3].get_string());
}

struct Case {
  const char* what;
  const char* spec;
  const char* status;
  const char* summary;
};

constexpr const char* kOne = "{'containers':[{'name':'a'}]}";
constexpr const char* kTwo = "{'containers':[{'name':'a'},{'name':'b'}]}";
constexpr const char* kInit =
    "{'initContainers':[{'name':'i'},{'name':'j'}],'containers':[{'name':'a'}]}";
constexpr const char* kSidecar =
    "{'initContainers':[{'name':'s','restartPolicy':'Always'}],'containers':[{'name':'a'}]}";

TEST(PodTable, shows_what_the_containers_do) {
  const Case cases[] = {
      {"nothing yet", kOne, "{'phase':'Pending'}", "0/1 Pending 0"},
      {"a reason", kOne, "{'phase':'Failed','reason':'Evicted'}", "0/1 Evicted 0"},
      {"gated", kOne,
       "{'phase':'Pending','conditions':[{'type':'PodScheduled','status':'False','reason':"
       "'SchedulingGated'}]}",
       "0/1 SchedulingGated 0"},
      {"creating", kOne,
       "{'phase':'Pending','containerStatuses':[{'state':{'waiting':{'reason':"
       "'ContainerCreating'}}}]}",
       "0/1 ContainerCreating 0"},
      {"running", kOne,
       "{'phase':'Running','containerStatuses':[{'ready':true,'state':{'running':{}}}]}",
       "1/1 Running 0"},
      {"running, not ready", kOne,
       "{'phase':'Running','containerStatuses':[{'ready':false,'state':{'running':{}}}]}",
       "0/1 Running 0"},
      {"the first container wins", kTwo,
       "{'phase':'Running','containerStatuses':[{'state':{'waiting':{'reason':'ErrImagePull'}}},"
       "{'state':{'waiting':{'reason':'CrashLoopBackOff'}}}]}",
       "0/2 ErrImagePull 0"},
      {"completed", kOne,
       "{'phase':'Succeeded','containerStatuses':[{'state':{'terminated':{'exitCode':0,'reason':"
       "'Completed'}}}]}",
       "0/1 Completed 0"},
      {"killed for memory", kOne,
       "{'phase':'Failed','containerStatuses':[{'state':{'terminated':{'exitCode':137,'reason':"
       "'OOMKilled'}}}]}",
       "0/1 OOMKilled 0"},
      {"exit code", kOne,
       "{'phase':'Failed','containerStatuses':[{'state':{'terminated':{'exitCode':3}}}]}",
       "0/1 ExitCode:3 0"},
      {"signal", kOne,
       "{'phase':'Failed','containerStatuses':[{'state':{'terminated':{'signal':9,'exitCode':"
       "137}}}]}",
       "0/1 Signal:9 0"},
      {"one completed, another ready", kTwo,
       "{'phase':'Running','conditions':[{'type':'Ready','status':'True'}],'containerStatuses':["
       "{'state':{'terminated':{'exitCode':0,'reason':'Completed'}}},{'ready':true,'state':{"
       "'running':{}}}]}",
       "1/2 Running 0"},
      {"one completed, the pod not ready", kTwo,
       "{'phase':'Running','conditions':[{'type':'Ready','status':'False'}],'containerStatuses':["
       "{'state':{'terminated':{'exitCode':0,'reason':'Completed'}}},{'ready':true,'state':{"
       "'running':{}}}]}",
       "1/2 NotReady 0"},
  };
  for (const Case& c : cases) EXPECT_EQ(summary(c.spec, c.status), c.summary) << c.what;
}

TEST(PodTable, shows_how_far_init_containers_are) {
  const Case cases[] = {
      {"the first runs", kInit,
       "{'phase':'Pending','initContainerStatuses':[{'name':'i','state':{'running':{}}},{'name':"
       "'j','state':{'waiting':{'reason':'PodInitializing'}}}],'containerStatuses':[{'state':{"
       "'waiting':{'reason':'PodInitializing'}}}]}",
       "0/1 Init:0/2 0"},
      {"the second waits", kInit,
       "{'phase':'Pending','initContainerStatuses':[{'name':'i','state':{'terminated':{'exitCode':"
       "0}}},{'name':'j','state':{'waiting':{'reason':'PodInitializing'}}}]}",
       "0/1 Init:1/2 0"},
      {"an image is missing", kInit,
       "{'phase':'Pending','initContainerStatuses':[{'name':'i','state':{'waiting':{'reason':"
       "'ImagePullBackOff'}}}]}",
       "0/1 Init:ImagePullBackOff 0"},
      {"failed with a reason", kInit,
       "{'phase':'Failed','initContainerStatuses':[{'name':'i','state':{'terminated':{'exitCode':"
       "1,'reason':'Error'}}}]}",
       "0/1 Init:Error 0"},
      {"failed without", kInit,
       "{'phase':'Failed','initContainerStatuses':[{'name':'i','restartCount':2,'state':{"
       "'terminated':{'exitCode':7}}}]}",
       "0/1 Init:ExitCode:7 2"},
      {"killed", kInit,
       "{'phase':'Failed','initContainerStatuses':[{'name':'i','state':{'terminated':{'exitCode':"
       "137,'signal':9}}}]}",
       "0/1 Init:Signal:9 0"},
      {"done", kInit,
       "{'phase':'Running','initContainerStatuses':[{'name':'i','restartCount':4,'state':{"
       "'terminated':{'exitCode':0}}},{'name':'j','state':{'terminated':{'exitCode':0}}}],"
       "'containerStatuses':[{'ready':true,'state':{'running':{}}}]}",
       "1/1 Running 0"},
      {"a sidecar runs", kSidecar,
       "{'phase':'Running','initContainerStatuses':[{'name':'s','restartCount':1,'started':true,"
       "'ready':true,'state':{'running':{}}}],'containerStatuses':[{'ready':true,'restartCount':2,"
       "'state':{'running':{}}}]}",
       "2/2 Running 3"},
      {"a sidecar starts", kSidecar,
       "{'phase':'Pending','initContainerStatuses':[{'name':'s','started':false,'state':{"
       "'running':{}}}]}",
       "0/2 Init:0/1 0"},
  };
  for (const Case& c : cases) EXPECT_EQ(summary(c.spec, c.status), c.summary) << c.what;
}

TEST(PodTable, shows_when_a_container_was_last_restarted) {
  EXPECT_EQ(summary(kTwo,
                    "{'phase':'Running','containerStatuses':[{'ready':true,'restartCount':1,"
                    "'state':{'running':{}},'lastState':{'terminated':{'finishedAt':"
                    "'2024-01-02T03:02:05Z'}}},{'ready':true,'restartCount':2,'state':{'running':"
                    "{}},'lastState':{'terminated':{'finishedAt':'2024-01-02T03:00:00Z'}}}]}"),
            "2/2 Running 3 (2m ago)");
}

TEST(PodTable, shows_pods_that_are_being_deleted) {
  const char* deleted = "{'deletionTimestamp':'2024-01-02T03:04:00Z'}";
  EXPECT_EQ(summary(kOne, "{'phase':'Running'}", deleted), "0/1 Terminating 0");
  EXPECT_EQ(summary(kOne, "{'phase':'Succeeded'}", deleted), "0/1 Succeeded 0");
  EXPECT_EQ(summary(kOne, "{'phase':'Running','reason':'NodeLost'}", deleted), "0/1 Unknown 0");
}

TEST(PodTable, shows_where_the_pod_is) {
  const json::array cells = table_view("", "Pod").cells(
      doc("{'metadata':{'name':'p','creationTimestamp':'2024-01-02T03:04:00Z'},'spec':{'nodeName':"
          "'n1','readinessGates':[{'conditionType':'g'},{'conditionType':'h'}]},'status':{'podIP':"
          "'10.0.0.9','podIPs':[{'ip':'10.0.0.9'},{'ip':'::9'}],'nominatedNodeName':'n2',"
          "'conditions':[{'type':'g','status':'True'}]}}"),
      kNow);
  EXPECT_EQ(to_json(cells), R"(["p","0/0","","0","5s","10.0.0.9","n1","n2","1/2"])");
}

}  // namespace
}  // namespace plim::local::apiserver
