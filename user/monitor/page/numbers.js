/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Derives the numbers of a job, a file or the node from the service's data. */

function methodTitle(method) {
	return { syscall: 'calls', direct: 'O_DIRECT' }[method] || method;
}

/* The sum of one number over the chosen `methods`; of recent activity if `lately`, null if that is
 * unknown. */
function sumOf(methods, name, lately, chosen) {
	let sum = 0;
	for (const method of methods) {
		if (chosen && !chosen(method))
			continue;
		const counts = lately ? method.rate : method;
		if (!counts)
			return null;
		sum += counts[name];
	}
	return sum;
}

function reads(method) {
	return (cell) => cell.op === 'read' && cell.method === method;
}

function writes(cell) {
	return cell.op === 'write';
}

/* The average number of threads inside an operation. */
function waitingOf(methods, chosen) {
	const time = sumOf(methods, 'time_ns', true, chosen);
	return time === null ? null : time / 1e9;
}

/* The oldest call or page fault of a process that has not returned; null if there is none. */
function inFlightText(operations) {
	const oldest = operations[0];
	return oldest ? [oldest.op, oldest.path, timeText(oldest.age_ns)].filter(Boolean).join(' ') : null;
}

function threadsText(value) {
	return value === null ? NOTHING : value === 0 ? '0' : value < 0.005 ? '<0.01' : value.toFixed(2);
}

function perSecond(value, text) {
	return value === null ? NOTHING : value === 0 ? '0' : text(value) + '/s';
}

function bytesRate(value) {
	return perSecond(value, bytesText);
}

function countRate(value) {
	return perSecond(value, countText);
}

/* --- names --- */

function shortId(text) {
	return /^[0-9a-f]{16,}$/.test(text) ? text.slice(0, 12) : text;
}

function mainProgram(job) {
	const living = job.programs.filter((program) => program.processes > 0);
	const busiest = (living.length ? living : job.programs).slice()
		.sort((a, b) => sumOf(b.methods, 'time_ns') - sumOf(a.methods, 'time_ns'))[0];
	return busiest ? busiest.name : null;
}

function jobName(job) {
	if (job.slurm_job)
		return `Slurm job ${job.slurm_job}` + (job.slurm_step ? `.${job.slurm_step}` : '') +
			(job.slurm_name ? `, ${job.slurm_name}` : '');
	const container = job.container || (job.container_id && shortId(job.container_id));
	if (job.pod || job.pod_uid)
		return 'pod ' + (job.pod ? [job.namespace, job.pod].filter(Boolean).join('/') : job.pod_uid) +
			(container ? `, ${container}` : '');
	if (container)
		return `container ${container}`;
	return job.cgroup === null ? '(no cgroup)' : lastPart(job.cgroup) || job.cgroup;
}

/* All texts that a filter matches. */
function jobWords(job) {
	return [jobName(job), job.cgroup, job.container, job.container_id, job.image, job.pod_uid,
		job.slurm_user, job.user,
		...job.programs.map((program) => program.name),
		...job.processes.map((process) => process.command)].join('\n').toLowerCase();
}
