package metrics

import "github.com/prometheus/client_golang/prometheus"

var (
	driverDesc    = desc("cluster_driver_info", "Who this driver is. Always 1.", "id", "cluster", "app")
	doesDesc      = desc("cluster_driver_role", "Whether this driver is idle, starting, standing by, beginning a term or leading.", "role")
	commitDesc    = desc("cluster_commit_duration_seconds", "How long decisions took that this driver has proposed, until they were on the disks of a majority.")
	connectedDesc = desc("cluster_block_copies_connected", "On the driver that leads: whether another takes copies of its received blocks.", "driver")
	behindDesc    = desc("cluster_block_copies_behind_bytes", "On the driver that leads: bytes of its received blocks that another lacks.", "driver")
)

// A reading is a metric of a driver of which there is one value.
type reading struct {
	desc  *prometheus.Desc
	kind  prometheus.ValueType
	value func(*Driver) float64
}

func level(name, help string, value func(*Driver) float64) reading {
	return reading{desc("cluster_"+name, help), prometheus.GaugeValue, value}
}

func total(name, help string, value func(*Driver) float64) reading {
	return reading{desc("cluster_"+name, help), prometheus.CounterValue, value}
}

// sinceBatch is a reading of the last committed batch, -1 where none is known.
func sinceBatch(name, help string, value func(*Driver) float64) reading {
	return level(name, help, func(d *Driver) float64 {
		if d.Batch < 0 {
			return -1
		}
		return value(d)
	})
}

// driverMetrics are those of every driver.
var driverMetrics = []reading{
	level("healthy", "Whether the disk takes writes and the application runs.", func(d *Driver) float64 { return truth(d.Healthy) }),
	level("ready", "Whether this driver leads, or stands by and knows who leads.", func(d *Driver) float64 { return truth(d.Ready) }),
	level("leader", "Whether this driver leads the replicated log.", func(d *Driver) float64 { return truth(d.Leads) }),
	level("leader_known", "Whether this driver knows who leads.", func(d *Driver) float64 { return truth(d.LeaderKnown) }),
	total("leader_changes_total", "How often this driver has heard of another leader.", func(d *Driver) float64 { return float64(d.LeaderChanges) }),
	level("last_contact_seconds", "How long ago this driver heard of the leader, 0 on the leader, -1 if it never did.", func(d *Driver) float64 {
		if d.LastContact < 0 {
			return -1
		}
		return d.LastContact.Seconds()
	}),
	level("term", "The term of Raft.", func(d *Driver) float64 { return float64(d.Term) }),
	level("epoch", "The epoch of the driver log that this driver has heard of last.", func(d *Driver) float64 { return float64(d.Epoch) }),
	level("members", "Members of the cluster as this driver knows them.", func(d *Driver) float64 { return float64(d.Members) }),
	level("voters", "Members of the cluster that vote.", func(d *Driver) float64 { return float64(d.Voters) }),
	level("poisoned", "Whether a write to the disk failed or hung, after which this driver decides nothing until it is started again.", func(d *Driver) float64 { return truth(d.Poisoned) }),
	total("committed_entries_total", "Entries of the replicated log that are decided, as this driver knows.", func(d *Driver) float64 { return float64(d.Committed) }),
	total("applied_entries_total", "Entries of the replicated log that this driver has applied.", func(d *Driver) float64 { return float64(d.Applied) }),
	level("apply_lag_entries", "Decided entries that this driver has not applied.", func(d *Driver) float64 {
		return float64(d.Committed - min(d.Applied, d.Committed))
	}),
	level("apply_lag_seconds", "How long a decided entry has been waiting to be applied, counted from the scrape that first saw it.", func(d *Driver) float64 { return d.ApplyLag.Seconds() }),
	total("undecided_proposals_total", "Proposals of this driver of which it is not known whether they were decided.", func(d *Driver) float64 { return float64(d.Undecided) }),
	sinceBatch("last_committed_batch", "The number of the last committed batch that this driver has heard of, -1 if none.", func(d *Driver) float64 { return float64(d.Batch) }),
	sinceBatch("last_committed_batch_time_seconds", "The batch time of it.", func(d *Driver) float64 { return seconds(d.BatchTime) }),
	sinceBatch("last_committed_batch_age_seconds", "How long ago the batch time of it was, -1 if there is none.", func(d *Driver) float64 {
		return float64(d.Now-d.BatchTime) / 1000
	}),
	level("open_batches", "Batches that are begun and not committed, as this driver has heard.", func(d *Driver) float64 { return float64(d.Open) }),
	total("snapshots_total", "Snapshots of the replicated log that this process has taken.", func(d *Driver) float64 { return float64(d.Snapshots) }),
	level("snapshot_bytes", "Bytes of the snapshots that are kept.", func(d *Driver) float64 { return float64(d.SnapshotBytes) }),
	level("log_bytes", "Bytes of the file that has the entries behind the snapshot.", func(d *Driver) float64 { return float64(d.LogBytes) }),
	level("disk_free_bytes", "Bytes that the disk of the replicated log has left, -1 where that is not known.", func(d *Driver) float64 { return float64(d.FreeBytes) }),
	level("low_space", "Whether this driver does not lead for want of room on its disk.", func(d *Driver) float64 { return truth(d.LowSpace) }),
}

// blockMetrics are those of a driver that keeps copies of received blocks.
var blockMetrics = []reading{
	level("block_segments", "Files of received blocks that this driver keeps, its own and copies.", func(d *Driver) float64 { return float64(d.Blocks.Segments) }),
	level("block_bytes", "Bytes in them.", func(d *Driver) float64 { return float64(d.Blocks.Bytes) }),
	level("blocks_waiting", "Received blocks that are not acknowledged yet, for want of copies.", func(d *Driver) float64 { return float64(d.Blocks.Waiting) }),
}
